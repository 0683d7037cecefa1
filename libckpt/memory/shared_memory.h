/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.h - objects of POSIX shared memory, and named semaphores, among
 * the mappings.
 */
#ifndef CKPT_SHARED_MEMORY_H
#define CKPT_SHARED_MEMORY_H

#include "base/arena.h"
#include "memory/maps.h"

#include <sys/stat.h>

/*
 * 1 for an object of this user. Such do not last: their content is to be saved
 * also by one who only reads them. status: of the mapped file.
 * Context: quiesced.
 */
int ckpt_is_shared_memory(const struct ckpt_mapping *mapping,
                          const struct stat *status);

/*
 * If the mapped object is said to be deleted but has another name, gives the
 * mapping that one, in the arena: sem_open() makes a semaphore under a name that
 * it removes. Context: quiesced.
 */
void ckpt_shared_memory_rename(struct ckpt_arena *arena,
                               struct ckpt_mapping *mapping);

#endif
