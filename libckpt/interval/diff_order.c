/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diff_order.c - the order in which diffs of several writers are applied.
 */
#include "interval/diff_order.h"

int ckpt_diff_compare(const struct ckpt_diff_stamp *a,
                      const struct ckpt_diff_stamp *b)
{
    if (a->sum != b->sum) {
        return a->sum < b->sum ? -1 : 1;
    }
    if (a->writer != b->writer) {
        return a->writer < b->writer ? -1 : 1;
    }
    return 0;
}

bool ckpt_diff_overwrites(uint64_t sequence, uint64_t last)
{
    return sequence >= last;
}
