/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * futex_clock.h - the clock of futex calls that wait for an absolute time.
 * Context of all functions: any.
 */
#ifndef CKPT_FUTEX_CLOCK_H
#define CKPT_FUTEX_CLOCK_H

#include <linux/futex.h>
#include <time.h>

/* System calls and an operation that older headers lack. */
#define CKPT_NUMBER_FUTEX_WAITV 449
#define CKPT_NUMBER_FUTEX_WAIT  455
#define CKPT_FUTEX_LOCK_PI2     13

/* Returns the clock of a futex(2) operation with an absolute time. For an
 * operation with a relative time, or without one, returns CLOCK_REALTIME, which
 * no restart changes. */
static inline clockid_t ckpt_futex_clock(int operation)
{
    switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case CKPT_FUTEX_LOCK_PI2:
        return (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME
                                                       : CLOCK_MONOTONIC;
    default:
        return CLOCK_REALTIME;
    }
}

#endif
