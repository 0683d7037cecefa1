/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_memory.h - recognises mappings of POSIX shared memory and named semaphores.
 */
#ifndef CKPT_SHARED_MEMORY_H
#define CKPT_SHARED_MEMORY_H

#include "base/arena.h"
#include "memory/maps.h"

#include <sys/stat.h>

/*
 * Returns 1 for an object of this user. Such objects are not permanent, so even a rank that
 * only reads one saves its content. status: of the mapped file.
 * Context: quiesced.
 */
int ckpt_is_shared_memory(const struct ckpt_mapping *mapping,
                          const struct stat *status);

/*
 * If the list shows the mapped object as deleted but it has another name, sets the mapping's
 * name to that one, in the arena. sem_open() creates a semaphore under a temporary name, which
 * it then removes. Context: quiesced.
 */
void ckpt_shared_memory_rename(struct ckpt_arena *arena,
                               struct ckpt_mapping *mapping);

#endif
