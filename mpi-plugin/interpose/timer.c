/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer.c - timer_create and the related calls.
 *
 * SIGEV_THREAD: libc has an internal thread that waits for such timers and
 * blocks all signals, the checkpoint signal too. So this code does the same
 * with a thread that does not block the checkpoint signal. Such a timer is one
 * of SIGEV_THREAD_ID, whose value is the address of a struct notification. All
 * timers are then the kernel's, and a checkpoint reads them from the kernel
 * (libckpt/task/timers.c). The kernel does not tell two things. One is the
 * thread of a CLOCK_THREAD_CPUTIME_ID, so this code passes an explicit thread.
 * The other is whether a time was absolute, so this code notes it.
 *
 * Context of all functions: normal; timer_settime also in signal handlers.
 */
#include "config.h"

#include "base/invariant.h"
#include "interpose/next.h"
#include "sys/syscall.h"
#include "task/process_id.h"
#include "task/program_clock.h"
#include "task/signals.h"
#include "task/threads.h"
#include "task/timers.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As in libc: its own first real-time signal, which programs cannot use. */
#define SIGNAL_TIMER  32
#define SIGNAL_SETXID 33

struct notification {
    struct notification *next;
    int32_t id;
    void (*function)(union sigval);
    union sigval value;
    pthread_attr_t attributes; /* of the thread that runs `function` */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the variables below */
static struct notification *notifications;
static pthread_t waiter;
static int32_t waiter_tid; /* the kernel's id; 0: not running */
static pthread_cond_t waiter_is_there = PTHREAD_COND_INITIALIZER;

_Static_assert(sizeof(timer_t) >= sizeof(int32_t), "a timer_t holds the kernel's id");

/* The only function of the thread that an expiration starts. */
static void *notify(void *argument)
{
    struct notification notification = *(struct notification *)argument;
    sigset_t none;

    free(argument);
    sigemptyset(&none);
    (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
    notification.function(notification.value);
    return NULL;
}

/* Returns a copy of the notification, or NULL if its timer has been deleted
 * meanwhile. */
static struct notification *copy_of(const void *address)
{
    struct notification *entry, *copy = NULL;

    pthread_mutex_lock(&lock);
    for (entry = notifications; entry != NULL && entry != address;) {
        entry = entry->next;
    }
    if (entry != NULL) {
        copy = malloc(sizeof(*copy));
    }
    if (copy != NULL) {
        *copy = *entry;
    }
    pthread_mutex_unlock(&lock);
    return copy;
}

static void expired(const void *address)
{
    struct notification *copy = copy_of(address);
    pthread_t thread;

    /* As in libc: an expiration is lost if no thread can be made for it. */
    if (copy != NULL &&
        pthread_create(&thread, &copy->attributes, notify, copy) != 0) {
        free(copy);
    }
}

static void *wait_for_timers(void *unused)
{
    const uint64_t set = CKPT_SIGNAL_BIT(SIGNAL_TIMER);
    siginfo_t info;

    (void)unused;
    (void)ckpt_sys_sigprocmask(SIG_BLOCK, &set, NULL); /* libc unblocks it */
    pthread_mutex_lock(&lock);
    waiter_tid = ckpt_sys_gettid();
    pthread_cond_signal(&waiter_is_there);
    pthread_mutex_unlock(&lock);
    for (;;) {
        if (ckpt_syscall4(SYS_rt_sigtimedwait, (long)&set, (long)&info, 0,
                          sizeof(set)) == SIGNAL_TIMER &&
            info.si_code == SI_TIMER) {
            expired(info.si_value.sival_ptr);
        }
    }
    return NULL;
}

/* Called in the child of a fork: it inherits neither timers nor threads. */
static void forget(void)
{
    notifications = NULL;
    waiter_tid = 0;
    pthread_mutex_init(&lock, NULL);
}

/* Starts the waiting thread, once. Returns 0 or an error number. Context: with
 * the lock. */
static int start_waiter(void)
{
    static int registered;
    uint64_t blocked = ~CKPT_SIGNAL_BIT(SIGNAL_SETXID), before;
    int error;

    if (waiter_tid != 0) {
        return 0;
    }
    if (!registered) {
        registered = 1;
        (void)pthread_atfork(NULL, NULL, forget);
    }
    blocked = ckpt_signals_without_ours(blocked);
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(&waiter, NULL, wait_for_timers, NULL);
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &before, NULL);
    while (error == 0 && waiter_tid == 0) {
        pthread_cond_wait(&waiter_is_there, &lock);
    }
    return error;
}

static int copy_attributes(const pthread_attr_t *from, pthread_attr_t *to)
{
    struct sched_param parameters;
    size_t size;
    int number, error = pthread_attr_init(to);

    if (error == 0 && from != NULL) {
        (void)pthread_attr_getstacksize(from, &size);
        error = pthread_attr_setstacksize(to, size);
        (void)pthread_attr_getguardsize(from, &size);
        (void)pthread_attr_setguardsize(to, size);
        (void)pthread_attr_getschedpolicy(from, &number);
        (void)pthread_attr_setschedpolicy(to, number);
        (void)pthread_attr_getschedparam(from, &parameters);
        (void)pthread_attr_setschedparam(to, &parameters);
        (void)pthread_attr_getinheritsched(from, &number);
        (void)pthread_attr_setinheritsched(to, number);
    }
    return error != 0 ? error
                      : pthread_attr_setdetachstate(to,
                                                    PTHREAD_CREATE_DETACHED);
}

/* Makes the system call. No restart can come in between, so the thread's id
 * stays valid. */
static long create(clockid_t clock, struct sigevent *event, int32_t *id_p)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask;
    long error;

    (void)ckpt_sys_sigprocmask(SIG_BLOCK, &all, &mask);
    if (event != NULL && event->sigev_notify == SIGEV_THREAD) {
        int tid = ckpt_threads_kernel_tid((uintptr_t)waiter, NULL);

        CKPT_INVARIANT(waiter_tid != 0); /* start_waiter() comes first */
        event->sigev_notify = SIGEV_SIGNAL | SIGEV_THREAD_ID;
        event->_sigev_un._tid = tid != 0 ? tid : waiter_tid;
    }
    if (clock == CLOCK_THREAD_CPUTIME_ID) {
        /* The kernel's clock number for one thread, see pthread_getcpuclockid
         * (interpose/signal_thread.c). */
        clock = (clockid_t)(~(unsigned)ckpt_sys_gettid() << 3 | 6u);
    } else if (clock == CLOCK_PROCESS_CPUTIME_ID) {
        clock = (clockid_t)(~0u << 3 | 2u);
    }
    error = ckpt_syscall3(SYS_timer_create, clock, (long)event, (long)id_p);
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
    return error;
}

/* Creates a timer of SIGEV_THREAD. Returns 0 or an error number. */
static int create_for_thread(clockid_t clock, const struct sigevent *wanted,
                             int32_t *id_p)
{
    struct notification *entry = calloc(1, sizeof(*entry));
    struct sigevent event;
    int error;

    if (entry == NULL) {
        return EAGAIN;
    }
    entry->function = wanted->sigev_notify_function;
    entry->value = wanted->sigev_value;
    error = copy_attributes(wanted->sigev_notify_attributes,
                            &entry->attributes);
    memset(&event, 0, sizeof(event));
    event.sigev_notify = SIGEV_THREAD;
    event.sigev_signo = SIGNAL_TIMER;
    event.sigev_value.sival_ptr = entry;
    pthread_mutex_lock(&lock);
    if (error == 0) {
        error = start_waiter();
    }
    if (error == 0) {
        error = (int)-create(clock, &event, id_p);
    }
    if (error == 0) {
        entry->id = *id_p;
        entry->next = notifications;
        notifications = entry;
    }
    pthread_mutex_unlock(&lock);
    if (error != 0) {
        free(entry);
    }
    return error;
}

CKPT_INTERPOSE int timer_create(clockid_t clock, struct sigevent *wanted,
                                timer_t *timer)
{
    struct sigevent event;
    int32_t id = 0;
    int error;

    if (wanted != NULL && wanted->sigev_notify == SIGEV_THREAD) {
        error = create_for_thread(clock, wanted, &id);
    } else {
        if (wanted != NULL) {
            event = *wanted;
        }
        if (wanted != NULL && wanted->sigev_notify == SIGEV_THREAD_ID) {
            event._sigev_un._tid = ckpt_thread_id_of_kernel(wanted->_sigev_un._tid);
        }
        error = (int)-create(clock, wanted != NULL ? &event : NULL, &id);
    }
    if (error != 0) {
        errno = error;
        return -1;
    }
    ckpt_timers_note_clock(id, clock);
    *timer = (timer_t)(intptr_t)id;
    return 0;
}

CKPT_INTERPOSE int timer_settime(timer_t timer, int flags,
                                 const struct itimerspec *value,
                                 struct itimerspec *old)
{
    struct itimerspec kernel;
    int result;

    if ((flags & TIMER_ABSTIME) != 0 && value != NULL &&
        (value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0)) {
        kernel = *value;
        kernel.it_value = ckpt_clock_to_kernel(
            ckpt_timers_clock((int)(intptr_t)timer), &value->it_value);
        value = &kernel;
    }
    result = CKPT_NEXT(timer_settime)(timer, flags, value, old);
    if (result == 0) {
        ckpt_timers_note((int)(intptr_t)timer, flags);
    }
    return result;
}

CKPT_INTERPOSE int timer_delete(timer_t timer)
{
    const int32_t id = (int32_t)(intptr_t)timer;
    struct notification **at, *entry = NULL;
    int result;

    pthread_mutex_lock(&lock);
    result = CKPT_NEXT(timer_delete)(timer);
    for (at = &notifications; *at != NULL && (*at)->id != id;) {
        at = &(*at)->next;
    }
    if (result == 0 && *at != NULL) {
        entry = *at;
        *at = entry->next;
    }
    pthread_mutex_unlock(&lock);
    free(entry);
    return result;
}
