/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_yield.h - how the lower half waits while a checkpoint is under way.
 */
#ifndef CKPT_HOST_YIELD_H
#define CKPT_HOST_YIELD_H

#include "lower/lower.h"

#define CKPT_MOMENT_NS         50000L
#define CKPT_LONGEST_MOMENT_NS 2000000L
_Static_assert(CKPT_LONGEST_MOMENT_NS < 1000000000L, "a moment is less than a second");

/*
 * Returns how long (ns) each of `ranks` ranks of a node sleeps on `processors`
 * processors. All ranks together then wake up as often as one rank on each processor
 * would. For example, 32 ranks that each woke up every 50 us would keep two processors
 * busy with that.
 */
static inline long ckpt_host_yield_moment(long ranks, long processors)
{
    const long each = processors > 0 ? (ranks + processors - 1) / processors : 1;

    if (each <= 1) {
        return CKPT_MOMENT_NS;
    }
    return each < CKPT_LONGEST_MOMENT_NS / CKPT_MOMENT_NS ? each * CKPT_MOMENT_NS
                                                          : CKPT_LONGEST_MOMENT_NS;
}

/* Makes sched_yield() check table->armed and table->open, if they are not NULL.
 * Context: normal (lower half). */
void ckpt_host_yield_open(const struct ckpt_lower *table);

#endif
