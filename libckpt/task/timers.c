/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timers.c - saves the timers of the process that send signals.
 *
 * A timer continues with its remaining time: the time between checkpoint and restart does not
 * count, as for MPI_Wtime, and the time on another host's clock does not matter. Only a timer
 * that was set to an absolute time of day keeps that time. The kernel lists the timers of
 * timer_create in /proc/self/timers:
 *   ID: 0
 *   signal: 14/00007ffd3c1a8f70      number and value
 *   notify: signal/pid.42            signal or none; tid.N: for that thread
 *   ClockID: 1                       negative: processor time
 * Their ids count up in each process, and libc derives its timer_t from them. So the ids must
 * be the same after a restart.
 */
#include "task/timers.h"

#include "base/invariant.h"
#include "base/text.h"
#include "memory/maps.h"
#include "sys/syscall.h"
#include "sys/time_of_day.h"
#include "task/threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <time.h>

/* Linux 6.15: timer_create uses the id that is passed to it. */
#ifndef PR_TIMER_CREATE_RESTORE_IDS
#define PR_TIMER_CREATE_RESTORE_IDS 77
#endif

static const int interval_kinds[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
#define INTERVAL_KINDS 3
_Static_assert(sizeof(interval_kinds) / sizeof(interval_kinds[0]) == INTERVAL_KINDS,
               "each kind has an entry");

#define SEVERAL_TICKS INT64_C(30000000) /* nanoseconds, at 100 ticks per second */

struct timer {
    int32_t id;
    int32_t clock;
    int32_t notify; /* SIGEV_* */
    int32_t signal;
    int32_t tid;   /* SIGEV_THREAD_ID: kernel thread id at the checkpoint */
    int32_t flags; /* TIMER_ABSTIME: `time` is absolute, else the remaining time */
    uint64_t value;
    struct itimerspec time;
};

static struct {
    struct itimerval interval[INTERVAL_KINDS];
    struct timer *timers; /* by ascending id, in the arena */
    size_t count;
} saved;

/* Ids of the timers last set to an absolute time, by their low bits; 0: none. If two timers
 * share an entry, the older one counts as relative. */
#define NOTES 4096
static int32_t absolute[NOTES]; /* id + 1 */

void ckpt_timers_note(int id, int flags)
{
    int32_t *note = &absolute[(unsigned)id % NOTES];

    if ((flags & TIMER_ABSTIME) != 0) {
        __atomic_store_n(note, id + 1, __ATOMIC_RELAXED);
    } else if (__atomic_load_n(note, __ATOMIC_RELAXED) == id + 1) {
        __atomic_store_n(note, 0, __ATOMIC_RELAXED);
    }
}

/* The clocks of timers, by the low bits of their ids. If two timers share an entry, it belongs
 * to the newer one. */
static struct {
    int32_t id; /* id + 1; 0: none */
    int32_t clock;
} clocks[NOTES];

void ckpt_timers_note_clock(int id, clockid_t clock)
{
    clocks[(unsigned)id % NOTES].clock = clock;
    clocks[(unsigned)id % NOTES].id = id + 1;
}

clockid_t ckpt_timers_clock(int id)
{
    return clocks[(unsigned)id % NOTES].id == id + 1
               ? clocks[(unsigned)id % NOTES].clock
               : CLOCK_REALTIME;
}

/* Parses a signed decimal number after `name`. Returns its end, or NULL. */
static const char *number_after(const char *at, const char *name,
                                int32_t *value)
{
    uint64_t number;
    int negative;

    at = at == NULL ? NULL : strstr(at, name);
    if (at == NULL) {
        return NULL;
    }
    at += ckpt_text_length(name);
    negative = *at == '-';
    at = ckpt_text_decimal(at + negative, &number);
    if (at != NULL) {
        *value = (int32_t)(negative ? -(int64_t)number : (int64_t)number);
    }
    return at;
}

/* Parses one entry. Returns its end, or NULL if it is malformed. */
static const char *read_entry(const char *at, struct timer *timer)
{
    const char *notify;
    int to_thread;

    at = number_after(at, "ID: ", &timer->id);
    at = number_after(at, "signal: ", &timer->signal);
    if (at == NULL || *at != '/' ||
        ckpt_text_hexadecimal(at + 1, &timer->value) == NULL) {
        return NULL;
    }
    notify = strstr(at, "notify: ");
    if (notify == NULL) {
        return NULL;
    }
    notify += ckpt_text_length("notify: ");
    timer->notify = ckpt_text_starts(notify, "none") ? SIGEV_NONE : SIGEV_SIGNAL;
    at = strchr(notify, '/');
    to_thread = at != NULL && ckpt_text_starts(at, "/tid.");
    timer->notify |= to_thread ? SIGEV_THREAD_ID : 0;
    at = number_after(at, to_thread ? "/tid." : "/pid.", &timer->tid);
    return number_after(at, "ClockID: ", &timer->clock);
}

/* Encoding of the CPU clock of a single thread: see clock_getcpuclockid(3). */
#define CPU_CLOCK_OF_THREAD 4
#define CPU_CLOCK_KINDS     7

static int thread_of_clock(int32_t clock)
{
    return (int)~(clock >> 3);
}

static int32_t clock_of_thread(int32_t clock, int tid)
{
    return (int32_t)((uint32_t)~tid << 3) | (clock & CPU_CLOCK_KINDS);
}

static int is_of_thread(int32_t clock)
{
    return clock < 0 && (clock & CPU_CLOCK_OF_THREAD) != 0;
}

static int is_alive(int tid)
{
    return ckpt_sys_tgkill(ckpt_sys_getpid(), tid, 0) == 0;
}

static int check(const struct timer *timer, struct ckpt_failure *failure)
{
    const char *thread = NULL;

    if (is_of_thread(timer->clock) && !is_alive(thread_of_clock(timer->clock))) {
        thread = "measures the processor time of";
    } else if ((timer->notify & SIGEV_THREAD_ID) != 0 &&
               !is_alive(timer->tid)) {
        thread = "is for";
    } else if (timer->clock < 0 && !is_of_thread(timer->clock) &&
               timer->clock >> 3 != -1) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_TIMER, -ENOTSUP,
                           "timer %d cannot be saved: it measures the processor "
                           "time of another process",
                           timer->id);
    }
    return thread == NULL
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_TIMER, -ENOTSUP,
                             "timer %d cannot be saved: it %s a thread that has "
                             "ended, or is not known",
                             timer->id, thread);
}

static int read_time(struct timer *timer, struct ckpt_failure *failure)
{
    long error =
        ckpt_syscall3(SYS_timer_gettime, timer->id, (long)&timer->time, 0);

    if (error != 0) {
        return ckpt_fail(failure, (int)error, "timer %d cannot be read: %l",
                         timer->id, -error);
    }
    timer->flags = 0;
    if (ckpt_is_time_of_day(timer->clock) &&
        absolute[(unsigned)timer->id % NOTES] == timer->id + 1) {
        timer->flags = TIMER_ABSTIME;
        ckpt_make_absolute(timer->clock, &timer->time.it_value);
    }
    return 0;
}

/* Older kernels list the newest timer first. */
static void insert(const struct timer *timer)
{
    size_t i = saved.count++;

    for (; i > 0 && saved.timers[i - 1].id > timer->id; i--) {
        saved.timers[i] = saved.timers[i - 1];
    }
    CKPT_INVARIANT(i == 0 || saved.timers[i - 1].id < timer->id); /* ids are unique */
    saved.timers[i] = *timer;
}

static size_t count_entries(const char *text)
{
    size_t entries = 0;

    while ((text = strstr(text, "ClockID: ")) != NULL) {
        text++;
        entries++;
    }
    return entries;
}

static int is_zero(const struct timeval *time)
{
    return time->tv_sec == 0 && time->tv_usec == 0;
}

static int64_t processor_time(void)
{
    struct timespec time = {0, 0};

    (void)ckpt_syscall3(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&time, 0);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/*
 * A due timer of processor time has no time left, like a disarmed timer that keeps its
 * interval. A few clock ticks later only the disarmed one still shows 0. So this function uses
 * up processor time until the two can be told apart.
 */
static void wait_until_told(int kind, struct itimerval *timer)
{
    const int64_t end = processor_time() + SEVERAL_TICKS;

    while (is_zero(&timer->it_value) && processor_time() < end) {
        for (volatile int i = 0; i < 10000; i++) { /* user time, not system time */
        }
        (void)ckpt_syscall3(SYS_getitimer, kind, (long)timer, 0);
    }
}

/* The kernel restarts ITIMER_REAL only when its signal is taken. If the signal is pending, a
 * whole interval remains. */
static void read_intervals(void)
{
    for (int i = 0; i < INTERVAL_KINDS; i++) {
        struct itimerval *timer = &saved.interval[i];

        (void)ckpt_syscall3(SYS_getitimer, interval_kinds[i], (long)timer, 0);
        if (!is_zero(&timer->it_value) || is_zero(&timer->it_interval)) {
            continue;
        }
        if (interval_kinds[i] == ITIMER_REAL) {
            timer->it_value = timer->it_interval;
        } else {
            wait_until_told(interval_kinds[i], timer);
        }
    }
}

int ckpt_timers_save(struct ckpt_arena *arena, struct ckpt_failure *failure)
{
    const char *at;
    char *text;
    size_t size, entries;
    int error;

    read_intervals();
    saved.count = 0;
    error = ckpt_proc_read(arena, "/proc/self/timers", &text, &size, failure);
    entries = error == 0 ? count_entries(text) : 0;
    if (entries == 0) {
        return error;
    }
    saved.timers = (struct timer *)ckpt_arena_alloc(
        arena, entries * sizeof(*saved.timers));
    if (saved.timers == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the timers");
    }
    at = text;
    for (size_t i = 0; i < entries && error == 0; i++) {
        struct timer timer;

        at = read_entry(at, &timer);
        if (at == NULL) {
            return ckpt_fail(failure, -EINVAL,
                             "the kernel's list of timers is not understood");
        }
        error = check(&timer, failure);
        if (error == 0) {
            error = read_time(&timer, failure);
        }
        CKPT_INVARIANT(saved.count < entries);
        insert(&timer);
    }
    return error;
}

/* Creates such a timer. Returns its id, or -errno. */
static long create(const struct timer *timer)
{
    int32_t clock = timer->clock, id = timer->id;
    struct sigevent event;
    long error;

    memset(&event, 0, sizeof(event));
    event.sigev_notify = timer->notify;
    event.sigev_signo = timer->signal;
    event.sigev_value.sival_ptr = (void *)timer->value;
    if ((timer->notify & SIGEV_THREAD_ID) != 0) {
        event._sigev_un._tid = ckpt_threads_renumbered(timer->tid);
    }
    if (is_of_thread(clock)) {
        clock = clock_of_thread(
            clock, ckpt_threads_renumbered(thread_of_clock(clock)));
    }
    error = ckpt_syscall3(SYS_timer_create, clock, (long)&event, (long)&id);
    return error != 0 ? error : id;
}

/* Creates the timer with its id. Older kernels count ids up, so timers with the ids before it
 * are created and deleted. */
static int create_with_id(const struct timer *timer)
{
    long id;

    while ((id = create(timer)) >= 0 && id != timer->id) {
        (void)ckpt_syscall3(SYS_timer_delete, id, 0, 0);
        if (id > timer->id) {
            return -EEXIST;
        }
    }
    return id < 0 ? (int)id : 0;
}

static int restore_timer(const struct timer *timer)
{
    int error = create_with_id(timer);

    return error != 0 ? error
                      : (int)ckpt_syscall4(SYS_timer_settime, timer->id,
                                           timer->flags, (long)&timer->time, 0);
}

static int restore_timers(struct ckpt_failure *failure)
{
    for (size_t i = 0; i < saved.count; i++) {
        int error = restore_timer(&saved.timers[i]);

        if (error != 0) {
            return ckpt_fail(failure, error,
                             "timer %d (clock %d) cannot be made again: error "
                             "%d",
                             saved.timers[i].id, saved.timers[i].clock, -error);
        }
    }
    return 0;
}

int ckpt_timers_restore(struct ckpt_failure *failure)
{
    int error, ids_are_chosen = 0;

    if (saved.count != 0) {
        ids_are_chosen =
            ckpt_sys_prctl(PR_TIMER_CREATE_RESTORE_IDS, 1, 0, 0, 0) == 0;
    }
    error = restore_timers(failure);
    if (ids_are_chosen) {
        (void)ckpt_sys_prctl(PR_TIMER_CREATE_RESTORE_IDS, 0, 0, 0, 0);
    }
    for (int i = 0; i < INTERVAL_KINDS && error == 0; i++) {
        (void)ckpt_syscall3(SYS_setitimer, interval_kinds[i],
                            (long)&saved.interval[i], 0);
    }
    return error;
}
