/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_memory.h - record which memory belongs to the lower half.
 *
 * Also exports to the lower half: mmap, mmap64, munmap, mremap, shmat, shmdt,
 * brk, sbrk, dlclose.
 */
#ifndef CKPT_HOST_MEMORY_H
#define CKPT_HOST_MEMORY_H

#include "lower/start.h"

/* Records the memory that appeared since the loader listed it: the dynamic
 * linker's own pages. Called first in main(). Context: normal (lower half). */
void ckpt_host_memory_open(const struct ckpt_lower_start *start);

/* See struct ckpt_lower. */
int ckpt_host_ranges(struct ckpt_range *ranges, int capacity);

#endif
