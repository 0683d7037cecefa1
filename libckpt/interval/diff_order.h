/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff_order.h - the order in which diffs of several writers are applied.
 *
 * Diffs that store to the same word are ordered by happened-before, as the
 * program has no data races; any order that extends it is right (4.4.2). Where
 * ranks store directly into shared memory, a diff may hold words of others as
 * well, which happened-before does not order: there each has a sequence
 * number, given at its release, and the highest wins. Context of all functions:
 * quiesced.
 */
#ifndef CKPT_DIFF_ORDER_H
#define CKPT_DIFF_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct ckpt_diff_stamp {
    uint64_t sum;    /* ckpt_vector_sum of the writer's time */
    uint32_t writer; /* tells concurrent ones apart */
};

/*
 * Less than, equal to or greater than 0 if `a` is to be applied before, is, or
 * is to be applied after `b`. Two intervals of a writer have different sums.
 */
int ckpt_diff_compare(const struct ckpt_diff_stamp *a,
                      const struct ckpt_diff_stamp *b);

/*
 * Does a diff with `sequence` store to a word that was last stored to by one
 * with `last` (0: none but the starting copy)? During a replay diffs become
 * visible late, and may then have lower numbers than one that has been applied.
 */
bool ckpt_diff_overwrites(uint64_t sequence, uint64_t last);

#endif
