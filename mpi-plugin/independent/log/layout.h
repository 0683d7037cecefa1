/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - the bytes of memory that a datatype describes, in the order of its type map
 * (MPI 3.1, section 4.1).
 */
#ifndef CKPT_INDEPENDENT_LAYOUT_H
#define CKPT_INDEPENDENT_LAYOUT_H

#include "independent/log/volatile_log.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

struct ckpt_layout {
    struct ckpt_log_range *range; /* `start` may be negative (as int64_t) */
    uint32_t count;
    uint32_t capacity;
    uint64_t bytes;               /* of all ranges */
    MPI_Datatype element;         /* lower handle of the first predefined type */
    struct ckpt_log_range few[4]; /* enough for most types */
};

/* Makes an empty layout. The caller frees it with ckpt_layout_free() in any case. */
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
 * Adds `count` elements of a lower datatype at address 0, and merges ranges that touch.
 * Between begin and end. Returns an MPI error code.
 */
int ckpt_layout_add(struct ckpt_layout *layout, MPI_Datatype lower, int count);

/*
 * Adds one element, which has the ranges `ranges`, `count` times, `extent` bytes apart.
 * Returns an MPI error code. Context: normal.
 */
int ckpt_layout_repeat(struct ckpt_layout *layout, const struct ckpt_log_range *ranges,
                       uint32_t range_count, int64_t extent, int count);

/*
 * The bytes of all ranges, in order, form a stream. These functions use `bytes` of it
 * after the first `skip`; both must exist.
 *
 * ckpt_layout_cut() writes the matching ranges to `range`, unless it is NULL, and returns
 * their number.
 */
uint32_t ckpt_layout_cut(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                         struct ckpt_log_range *range);

/* Copy these bytes from memory at `base`, and to it. */
void ckpt_layout_read(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                      const char *base, char *to);
void ckpt_layout_write(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                       const char *from, char *base);

#pragma GCC visibility pop

#endif
