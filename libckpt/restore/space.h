/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * space.h - finds address space that neither the restart program nor the saved
 * process uses. Context: normal.
 */
#ifndef CKPT_SPACE_H
#define CKPT_SPACE_H

#include "ckpt/snapshot.h"

#include <stddef.h>
#include <stdint.h>

/* mmap refuses addresses below the start; addresses above the end need a hint
 * to mmap. */
#define CKPT_SPACE_START 0x10000u
#define CKPT_SPACE_END   0x7ffffffff000u

struct ckpt_space {
    struct ckpt_range *used; /* unordered; may overlap */
    size_t count;
    size_t capacity;
    struct ckpt_range room; /* the hole being filled */
};

/* Marks [start, end) as used. Returns 0 or -ENOMEM. */
int ckpt_space_use(struct ckpt_space *space, uint64_t start, uint64_t end);

/*
 * Finds room for `size` bytes, page aligned, at an address that equals
 * `congruent` modulo 2 MiB. Moving the memory to `congruent` then moves page
 * tables and keeps huge pages. Marks the range as used. Returns its address, or
 * 0.
 */
uint64_t ckpt_space_place(struct ckpt_space *space, uint64_t size,
                          uint64_t congruent);

void ckpt_space_close(struct ckpt_space *space);

#endif
