/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_wait.c - calls that wait for an absolute time of a monotonic clock.
 *
 * The program's clock and the kernel's differ after a restart. libc passes the
 * time to the kernel unchanged, so libc must get a time of the kernel's clock
 * (libckpt/task/deadline.h). timed_call.c has the calls of which only a
 * time-out is known.
 *
 * Context of all functions: normal, or a signal handler.
 */
#include "config.h"

#include "base/text.h"
#include "interpose/next.h"
#include "sys/syscall.h"
#include "task/deadline.h"
#include "task/program_clock.h"

#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

/* Evaluates `call`, which waits until `kernel`: the name of `time` on the
 * kernel's clock. */
#define UNTIL(clock, time, kernel, call)                    \
    __extension__({                                         \
        struct ckpt_deadline before_;                       \
        const struct timespec *kernel =                     \
            ckpt_deadline_begin((clock), (time), &before_); \
        __typeof__(call) result_ = (call);                  \
        ckpt_deadline_end(&before_);                        \
        result_;                                            \
    })

/* glibc sets this bit for a condition variable whose attribute has
 * CLOCK_MONOTONIC. The public structure has the member but does not name its
 * bits. */
#define CONDITION_IS_MONOTONIC 2u

static clockid_t clock_of(const pthread_cond_t *condition)
{
    return (__atomic_load_n(&condition->__data.__wrefs, __ATOMIC_RELAXED) &
            CONDITION_IS_MONOTONIC) != 0
               ? CLOCK_MONOTONIC
               : CLOCK_REALTIME;
}

/* Looks up the versioned symbol: the plain name may find the version for
 * programs of 2002. */
typedef int timed_wait(pthread_cond_t *, pthread_mutex_t *,
                       const struct timespec *);

static timed_wait *next_timed_wait(void)
{
    static timed_wait *next;
    timed_wait *found = __atomic_load_n(&next, __ATOMIC_RELAXED);

    if (found == NULL) {
        found = (timed_wait *)dlvsym(RTLD_NEXT, "pthread_cond_timedwait",
                                     "GLIBC_2.3.2");
        __atomic_store_n(&next, found, __ATOMIC_RELAXED);
    }
    return found;
}

CKPT_INTERPOSE int pthread_cond_timedwait(pthread_cond_t *condition,
                                          pthread_mutex_t *mutex,
                                          const struct timespec *time)
{
    return UNTIL(clock_of(condition), time, kernel,
                 next_timed_wait()(condition, mutex, kernel));
}

CKPT_INTERPOSE int pthread_cond_clockwait(pthread_cond_t *condition,
                                          pthread_mutex_t *mutex,
                                          clockid_t clock,
                                          const struct timespec *time)
{
    return UNTIL(clock, time, kernel,
                 CKPT_NEXT(pthread_cond_clockwait)(condition, mutex, clock,
                                                   kernel));
}

CKPT_INTERPOSE int sem_clockwait(sem_t *semaphore, clockid_t clock,
                                 const struct timespec *time)
{
    return UNTIL(clock, time, kernel,
                 CKPT_NEXT(sem_clockwait)(semaphore, clock, kernel));
}

CKPT_INTERPOSE int pthread_mutex_clocklock(pthread_mutex_t *mutex,
                                           clockid_t clock,
                                           const struct timespec *time)
{
    return UNTIL(clock, time, kernel,
                 CKPT_NEXT(pthread_mutex_clocklock)(mutex, clock, kernel));
}

CKPT_INTERPOSE int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock,
                                              clockid_t clock,
                                              const struct timespec *time)
{
    return UNTIL(clock, time, kernel,
                 CKPT_NEXT(pthread_rwlock_clockrdlock)(lock, clock, kernel));
}

CKPT_INTERPOSE int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock,
                                              clockid_t clock,
                                              const struct timespec *time)
{
    return UNTIL(clock, time, kernel,
                 CKPT_NEXT(pthread_rwlock_clockwrlock)(lock, clock, kernel));
}

CKPT_INTERPOSE int pthread_clockjoin_np(pthread_t thread, void **value,
                                        clockid_t clock,
                                        const struct timespec *time)
{
    return UNTIL(clock, time, kernel,
                 CKPT_NEXT(pthread_clockjoin_np)(thread, value, clock, kernel));
}

/*
 * libc adds the time-out to the program's time and waits until the kernel's
 * clock shows the sum. So this subtracts the difference of the two clocks from
 * the time-out. The result may be negative, which libc does not check.
 */
CKPT_INTERPOSE int aio_suspend(const struct aiocb *const list[], int count,
                               const struct timespec *timeout)
{
    const int64_t second = 1000000000;
    const int64_t offset = ckpt_clock_offset(CLOCK_MONOTONIC);
    struct timespec kernel;

    if (timeout != NULL && offset != 0) {
        kernel.tv_sec = timeout->tv_sec - offset / second;
        kernel.tv_nsec = timeout->tv_nsec - offset % second;
        if (kernel.tv_nsec < 0) {
            kernel.tv_nsec += second;
            kernel.tv_sec--;
        } else if (kernel.tv_nsec >= second) {
            kernel.tv_nsec -= second;
            kernel.tv_sec++;
        }
        timeout = &kernel;
    }
    return CKPT_NEXT(aio_suspend)(list, count, timeout);
}

/* The name that programs with _FILE_OFFSET_BITS=64 call. The structures are
 * equal. */
_Static_assert(sizeof(struct aiocb64) == sizeof(struct aiocb), "one function for both names");

CKPT_INTERPOSE int aio_suspend64(const struct aiocb64 *const list[], int count,
                                 const struct timespec *timeout)
{
    return aio_suspend((const struct aiocb *const *)list, count, timeout);
}

/* Reads the clock of a timer's descriptor from its fdinfo. */
static clockid_t clock_of_descriptor(int fd)
{
    static const char name[] = "clockid:";
    char text[512], path[64];
    const char *at;
    uint64_t clock = CLOCK_REALTIME;
    long size = 0;
    int info;

    ckpt_text_format(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    info = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (info >= 0) {
        size = ckpt_sys_read(info, text, sizeof(text) - 1);
        (void)ckpt_sys_close(info);
    }
    text[size > 0 ? size : 0] = '\0';
    at = strstr(text, name);
    if (at != NULL) {
        at += sizeof(name) - 1;
        (void)ckpt_text_decimal(at + strspn(at, " \t"), &clock);
    }
    return (clockid_t)clock;
}

/* Converts only the given time: a checkpoint reads the remaining time of the
 * timer. */
CKPT_INTERPOSE int timerfd_settime(int fd, int flags,
                                   const struct itimerspec *value,
                                   struct itimerspec *old)
{
    struct itimerspec kernel;

    if ((flags & TFD_TIMER_ABSTIME) != 0 && value != NULL &&
        ckpt_clock_restarts() != 0 &&
        (value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0)) {
        kernel = *value;
        kernel.it_value =
            ckpt_clock_to_kernel(clock_of_descriptor(fd), &value->it_value);
        value = &kernel;
    }
    return CKPT_NEXT(timerfd_settime)(fd, flags, value, old);
}
