/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - which bytes of memory a datatype means, in the order of its type map
 * (MPI 3.1, section 4.1).
 */
#ifndef CKPT_INDEPENDENT_LAYOUT_H
#define CKPT_INDEPENDENT_LAYOUT_H

#include "independent/volatile_log.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

struct ckpt_layout {
    struct ckpt_log_range *range; /* `start` may be below 0 (as int64_t) */
    uint32_t count;
    uint32_t capacity;
    uint64_t bytes;        /* of all ranges */
    MPI_Datatype element;  /* lower: the predefined type that comes first */
    struct ckpt_log_range few[4]; /* room for most */
};

/* An empty one, to be freed with ckpt_layout_free() whatever comes of it. */
static inline void ckpt_layout_begin(struct ckpt_layout *layout)
{
    layout->range = layout->few;
    layout->capacity = sizeof(layout->few) / sizeof(layout->few[0]);
    layout->count = 0;
    layout->bytes = 0;
    layout->element = NULL;
}
void ckpt_layout_free(struct ckpt_layout *layout);

/*
 * Adds `count` elements of a lower datatype at address 0. Ranges that touch are one.
 * Between begin and end. Returns an MPI error code.
 */
int ckpt_layout_add(struct ckpt_layout *layout, MPI_Datatype lower, int count);

/*
 * Adds one element, which has `ranges`, so many times, `extent` bytes from each other.
 * Returns an MPI error code. Context: normal.
 */
int ckpt_layout_repeat(struct ckpt_layout *layout, const struct ckpt_log_range *ranges,
                       uint32_t range_count, int64_t extent, int count);

/*
 * All bytes that are meant, one after the other, are a stream. These look at `bytes` of it
 * behind the first `skip`, which are there.
 *
 * Where they are: fills in `range`, unless it is NULL, and returns how many there are.
 */
uint32_t ckpt_layout_cut(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                         struct ckpt_log_range *range);

/* Copies them from memory at `base`, and to it. */
void ckpt_layout_read(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                      const char *base, char *to);
void ckpt_layout_write(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                       const char *from, char *base);

#pragma GCC visibility pop

#endif
