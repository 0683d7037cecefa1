/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_memory.h - which memory is the lower half's.
 *
 * Also exports to the lower half: mmap, mmap64, munmap, mremap, shmat, shmdt,
 * brk, sbrk, dlclose.
 */
#ifndef CKPT_HOST_MEMORY_H
#define CKPT_HOST_MEMORY_H

#include "lower/start.h"

/* Notes what has appeared since the loader looked: the dynamic linker's own
 * pages. First thing in main(). Context: normal (lower half). */
void ckpt_host_memory_open(const struct ckpt_lower_start *start);

/* See struct ckpt_lower. */
int ckpt_host_ranges(struct ckpt_range *ranges, int capacity);

#endif
