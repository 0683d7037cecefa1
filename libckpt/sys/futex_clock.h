/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * futex_clock.h - futex calls that wait for an absolute time, and of which
 * clock. Context of all: any.
 */
#ifndef CKPT_FUTEX_CLOCK_H
#define CKPT_FUTEX_CLOCK_H

#include <linux/futex.h>
#include <time.h>

/* System calls and an operation that are newer than some headers. */
#define CKPT_NUMBER_FUTEX_WAITV 449
#define CKPT_NUMBER_FUTEX_WAIT 455
#define CKPT_FUTEX_LOCK_PI2 13

/* The clock of an operation of futex(2) with an absolute time. CLOCK_REALTIME,
 * which no restart changes, also for all that have a relative one or none. */
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
