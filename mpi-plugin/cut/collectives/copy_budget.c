/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_budget.c - see copy_budget.h.
 */
#include "cut/collectives/copy_budget.h"

#include "base/invariant.h"

#include <time.h>

static uint64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void ckpt_copy_budget_fill(struct ckpt_copy_budget *budget, uint64_t now)
{
    const uint64_t room = CKPT_COPY_SAVED_BYTES - budget->left;
    const uint64_t passed = now > budget->filled ? now - budget->filled : 0;

    CKPT_INVARIANT(budget->left <= CKPT_COPY_SAVED_BYTES);
    if (budget->filled == 0 || passed >= room / CKPT_COPY_BYTES_PER_US) {
        budget->left = CKPT_COPY_SAVED_BYTES;
    } else {
        budget->left += passed * CKPT_COPY_BYTES_PER_US;
    }
    CKPT_INVARIANT(budget->left <= CKPT_COPY_SAVED_BYTES);
    budget->filled = now;
}

int ckpt_copy_budget_take(struct ckpt_copy_budget *budget, uint64_t bytes)
{
    if (bytes > CKPT_COPY_SAVED_BYTES) {
        return 0;
    }
    if (bytes > budget->left) {
        ckpt_copy_budget_fill(budget, now_us());
    }
    if (bytes > budget->left) {
        return 0;
    }
    budget->left -= bytes;
    return 1;
}
