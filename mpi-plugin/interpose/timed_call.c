/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed_call.c - calls with a time-out announce it before they are made.
 *
 * If a checkpoint interrupts such a call, it continues for the rest of its time
 * (libckpt/task/interrupted.c). This file has only calls whose remaining time
 * could not be found otherwise. Each call goes on to libc.
 *
 * Context of all functions: normal, or a signal handler.
 */
#include "config.h"

#include "interpose/next.h"
#include "interpose/signal_set.h"
#include "ipc/system_v.h"
#include "ipc/system_v_undo.h"
#include "task/deadline.h"
#include "task/interrupted.h"
#include "task/process_id.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define NUMBER_EPOLL_PWAIT2 441 /* newer than some headers */
#ifdef SYS_epoll_pwait2
_Static_assert(NUMBER_EPOLL_PWAIT2 == SYS_epoll_pwait2, "the kernel's number");
#endif

/* Evaluates `call`, announced as `number`; keeps the errno of the call. */
#define TIMED(number, nanoseconds, milliseconds, call)                \
    __extension__({                                                   \
        const struct ckpt_timed_call before_ = ckpt_timed_call_begin( \
            (number), (nanoseconds), (milliseconds));                 \
        __typeof__(call) result_ = (call);                            \
        ckpt_timed_call_end(&before_);                                \
        result_;                                                      \
    })

static int64_t from_milliseconds(int milliseconds)
{
    return milliseconds > 0 ? (int64_t)milliseconds * 1000000 : 0;
}

static int64_t from_timespec(const struct timespec *time)
{
    return time == NULL ? 0 : (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

CKPT_INTERPOSE int nanosleep(const struct timespec *time, struct timespec *left)
{
    return TIMED(SYS_clock_nanosleep, from_timespec(time), 0,
                 CKPT_NEXT(nanosleep)(time, left));
}

CKPT_INTERPOSE int clock_nanosleep(clockid_t clock, int flags,
                                   const struct timespec *time,
                                   struct timespec *left)
{
    struct ckpt_deadline before;
    int error;

    if ((flags & TIMER_ABSTIME) == 0) {
        return TIMED(SYS_clock_nanosleep, from_timespec(time), 0,
                     CKPT_NEXT(clock_nanosleep)(clock, flags, time, left));
    }
    time = ckpt_deadline_begin(clock, time, &before);
    error = CKPT_NEXT(clock_nanosleep)(clock, flags, time, left);
    ckpt_deadline_end(&before);
    return error;
}

CKPT_INTERPOSE int usleep(useconds_t microseconds)
{
    return TIMED(SYS_clock_nanosleep, (int64_t)microseconds * 1000, 0,
                 CKPT_NEXT(usleep)(microseconds));
}

CKPT_INTERPOSE int thrd_sleep(const struct timespec *time,
                              struct timespec *left)
{
    return TIMED(SYS_clock_nanosleep, from_timespec(time), 0,
                 CKPT_NEXT(thrd_sleep)(time, left));
}

CKPT_INTERPOSE int poll(struct pollfd *files, nfds_t count, int timeout)
{
    if (timeout <= 0) {
        return CKPT_NEXT(poll)(files, count, timeout);
    }
    return TIMED(SYS_poll, from_milliseconds(timeout), timeout,
                 CKPT_NEXT(poll)(files, count, timeout));
}

/* The name of poll() with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *files, nfds_t count, int timeout, size_t size);

CKPT_INTERPOSE int __poll_chk(struct pollfd *files, nfds_t count, int timeout,
                              size_t size)
{
    return TIMED(SYS_poll, from_milliseconds(timeout), timeout,
                 CKPT_NEXT(__poll_chk)(files, count, timeout, size));
}

CKPT_INTERPOSE int epoll_wait(int epoll, struct epoll_event *events,
                              int capacity, int timeout)
{
    if (timeout <= 0) {
        return CKPT_NEXT(epoll_wait)(epoll, events, capacity, timeout);
    }
    return TIMED(SYS_epoll_wait, from_milliseconds(timeout), timeout,
                 CKPT_NEXT(epoll_wait)(epoll, events, capacity, timeout));
}

CKPT_INTERPOSE int epoll_pwait(int epoll, struct epoll_event *events,
                               int capacity, int timeout, const sigset_t *set)
{
    sigset_t copy;

    set = ckpt_set_without_signal(set, &copy);
    return TIMED(SYS_epoll_pwait, from_milliseconds(timeout), timeout,
                 CKPT_NEXT(epoll_pwait)(epoll, events, capacity, timeout, set));
}

CKPT_INTERPOSE int epoll_pwait2(int epoll, struct epoll_event *events,
                                int capacity, const struct timespec *timeout,
                                const sigset_t *set)
{
    sigset_t copy;

    set = ckpt_set_without_signal(set, &copy);
    return TIMED(NUMBER_EPOLL_PWAIT2, from_timespec(timeout), 0,
                 CKPT_NEXT(epoll_pwait2)(epoll, events, capacity, timeout,
                                         set));
}

CKPT_INTERPOSE int sigtimedwait(const sigset_t *set, siginfo_t *info,
                                const struct timespec *timeout)
{
    sigset_t copy;
    int signal;

    set = ckpt_set_without_signal(set, &copy);
    signal = TIMED(SYS_rt_sigtimedwait, from_timespec(timeout), 0,
                   CKPT_NEXT(sigtimedwait)(set, info, timeout));
    if (signal > 0 && info != NULL) {
        ckpt_process_id_show_sender(info);
    }
    return signal;
}

CKPT_INTERPOSE int semtimedop(int set, struct sembuf *operations, size_t count,
                              const struct timespec *timeout)
{
    int result;

    ckpt_system_v_note(CKPT_SYSTEM_V_SEMAPHORES, set);
    result = TIMED(SYS_semtimedop, from_timespec(timeout), 0,
                   CKPT_NEXT(semtimedop)(set, operations, count, timeout));
    if (result == 0) {
        ckpt_system_v_undo_note(set, operations, count);
    }
    return result;
}
