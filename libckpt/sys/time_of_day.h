/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * time_of_day.h - clocks that show the same time on every host, for timers with
 * an absolute time. Context of all functions: any.
 */
#ifndef CKPT_TIME_OF_DAY_H
#define CKPT_TIME_OF_DAY_H

#include "sys/syscall.h"

#include <time.h>

static inline int ckpt_is_time_of_day(int clock)
{
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM ||
           clock == CLOCK_TAI;
}

/* Converts a timer's remaining time to an absolute one, unless it is 0
 * (disarmed). */
static inline void ckpt_make_absolute(int clock, struct timespec *time)
{
    struct timespec now;

    if ((time->tv_sec == 0 && time->tv_nsec == 0) ||
        ckpt_sys_clock_gettime(clock, &now) != 0) {
        return;
    }
    time->tv_sec += now.tv_sec;
    time->tv_nsec += now.tv_nsec;
    if (time->tv_nsec >= 1000000000) {
        time->tv_nsec -= 1000000000;
        time->tv_sec++;
    }
}

#endif
