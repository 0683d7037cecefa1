/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_budget.h - how many bytes of the application's messages may be copied so
 * that a checkpoint has to wait for nobody.
 *
 * A copy saves time only if a checkpoint comes at that moment, and takes time
 * always. So copies get a fixed share of the time: a program that calls rarely
 * has all of them, one that calls in a tight loop next to none, and its ranks
 * are close to each other anyway.
 */
#ifndef CKPT_COPY_BUDGET_H
#define CKPT_COPY_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/* The share: 10 MB/s, below 0.5% of a core that copies 2 GB/s to fresh memory. */
#define CKPT_COPY_BYTES_PER_US 10

/* What can be saved up, and what there is at first. */
#define CKPT_COPY_SAVED_BYTES (UINT64_C(64) << 20)

struct ckpt_copy_budget {
    uint64_t left;   /* bytes */
    uint64_t filled; /* when, in microseconds of CLOCK_MONOTONIC; 0: never */
};

/* Adds what the time up to `now` (microseconds; it may also go back, as at a
 * restart) has earned. Context: any. */
void ckpt_copy_budget_fill(struct ckpt_copy_budget *budget, uint64_t now);

/* Takes `bytes` for a copy. 1 if there were so many, else 0: do not copy. `budget`
 * is filled by the clock when it is short. Context: any but freestanding; one
 * thread at a time. */
int ckpt_copy_budget_take(struct ckpt_copy_budget *budget, uint64_t bytes);

#endif
