/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_budget.h - how many bytes of the application's messages may be copied so
 * that a checkpoint need not wait for other ranks.
 *
 * A copy always takes time, and saves time only if a checkpoint comes before the
 * operation ends. So copies get a fixed share of the time. A program that calls
 * rarely gets all its copies. A program that calls in a tight loop gets hardly
 * any; its ranks are close to each other, so a checkpoint waits little.
 */
#ifndef CKPT_COPY_BUDGET_H
#define CKPT_COPY_BUDGET_H

#include <stddef.h>
#include <stdint.h>

/* The share: 10 MB/s, less than 0.5% of a core that copies 2 GB/s to fresh
 * memory. */
#define CKPT_COPY_BYTES_PER_US 10

/* The most bytes that the budget accumulates; also its initial value. */
#define CKPT_COPY_SAVED_BYTES (UINT64_C(64) << 20)

struct ckpt_copy_budget {
    uint64_t left;   /* bytes */
    uint64_t filled; /* when last filled, in us of CLOCK_MONOTONIC; 0: never */
};

/* Adds the bytes earned up to `now` (microseconds; the clock may step back, as at
 * a restart). Context: any. */
void ckpt_copy_budget_fill(struct ckpt_copy_budget *budget, uint64_t now);

/* Takes `bytes` for a copy. Returns 1, or 0 if the budget has not enough: then do
 * not copy. Reads the clock to fill `budget` only if it is short. Context: any but
 * freestanding; one thread at a time. */
int ckpt_copy_budget_take(struct ckpt_copy_budget *budget, uint64_t bytes);

#endif
