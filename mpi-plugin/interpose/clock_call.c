/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_call.c - syscall() after a restart, for calls that use monotonic
 * clocks. Each call goes on to libc or to the kernel, with the kernel's time
 * instead of the program's.
 *
 * Context of all functions: normal, or a signal handler.
 */
#include "config.h"

#include "sys/futex_clock.h"
#include "task/deadline.h"
#include "task/program_clock.h"

#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* interpose/syscall.S */
long ckpt_syscall_plain(long number, long a1, long a2, long a3, long a4, long a5,
                        long a6);
long ckpt_clock_call(long number, long a1, long a2, long a3, long a4, long a5,
                     long a6);

static const struct timespec *begin(clockid_t clock, long time,
                                    struct ckpt_deadline *before)
{
    return ckpt_deadline_begin(clock, (const struct timespec *)time, before);
}

long ckpt_clock_call(long number, long a1, long a2, long a3, long a4, long a5,
                     long a6)
{
    struct ckpt_deadline before;
    long result;

    switch (number) {
    case SYS_clock_gettime:
        return clock_gettime((clockid_t)a1, (struct timespec *)a2);
    case SYS_timerfd_settime:
        return timerfd_settime((int)a1, (int)a2, (const struct itimerspec *)a3,
                               (struct itimerspec *)a4);
    case SYS_timer_settime:
        return timer_settime((timer_t)a1, (int)a2,
                             (const struct itimerspec *)a3,
                             (struct itimerspec *)a4);
    case SYS_clock_nanosleep:
        if (((int)a2 & TIMER_ABSTIME) == 0) {
            return ckpt_syscall_plain(number, a1, a2, a3, a4, a5, a6);
        }
        a3 = (long)begin((clockid_t)a1, a3, &before);
        break;
    case SYS_futex:
        if (ckpt_futex_clock((int)a2) == CLOCK_REALTIME) {
            return ckpt_syscall_plain(number, a1, a2, a3, a4, a5, a6);
        }
        a4 = (long)begin(CLOCK_MONOTONIC, a4, &before);
        break;
    case CKPT_NUMBER_FUTEX_WAITV:
        a4 = (long)begin((clockid_t)a5, a4, &before);
        break;
    case CKPT_NUMBER_FUTEX_WAIT:
        a5 = (long)begin((clockid_t)a6, a5, &before);
        break;
    default:
        return ckpt_syscall_plain(number, a1, a2, a3, a4, a5, a6);
    }
    result = ckpt_syscall_plain(number, a1, a2, a3, a4, a5, a6);
    ckpt_deadline_end(&before);
    return result;
}
