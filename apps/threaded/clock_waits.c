/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_waits.c - threads that wait by CLOCK_MONOTONIC and CLOCK_BOOTTIME, each in another way,
 * while the host changes.
 *
 *     clock_waits GATE [NAME | reading | handler]
 *
 * Each thread begins a wait of some seconds. After the file GATE exists, this wait has to end in
 * time, and another, short wait has to last as long as it should. A thread reads the clocks all the
 * time: they never go back and do not jump. NAME: only that wait. reading: the first thread only
 * reads the clock. handler: a signal handler interrupts these reads, and takes most of the time. An
 * interrupted read may then be wrong (docs/clocks.md), but has to end.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define LONG_MS   5000
#define SHORT_MS  300
#define LATE_MS   1500
#define JUMP_MS   3000 /* more than a checkpoint takes */
#define TIMEOUT_S 40

/* Newer than some headers. */
#define NUMBER_FUTEX_WAITV 449

static volatile int is_open, is_over, failures;
static const char *gate;

static int64_t read_ms(clockid_t clock)
{
    struct timespec time;

    if (clock_gettime(clock, &time) != 0) {
        abort();
    }
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void fail(const char *name, const char *what, long value)
{
    printf("FAIL %s: %s %ld\n", name, what, value);
    fflush(stdout);
    __atomic_fetch_add(&failures, 1, __ATOMIC_SEQ_CST);
}

/* The arguments of a wait: a time of a clock, and the milliseconds until then. */
struct until {
    clockid_t clock;
    struct timespec time;
    int milliseconds;
};

/* Each function waits for an event that never comes; returns 1 if the call reports the time-out. */

static int do_clock_nanosleep(const struct until *until)
{
    return clock_nanosleep(until->clock, TIMER_ABSTIME, &until->time, NULL) == 0;
}

static int do_nanosleep(const struct until *until)
{
    const struct timespec time = {until->milliseconds / 1000,
                                  until->milliseconds % 1000 * 1000000l};

    return nanosleep(&time, NULL) == 0;
}

static int do_poll(const struct until *until)
{
    return poll(NULL, 0, until->milliseconds) == 0;
}

static int do_select(const struct until *until)
{
    struct timeval time = {until->milliseconds / 1000,
                           until->milliseconds % 1000 * 1000l};

    return select(0, NULL, NULL, NULL, &time) == 0;
}

static int do_epoll(const struct until *until)
{
    struct epoll_event event;
    int epoll = epoll_create1(0);
    int count = epoll_wait(epoll, &event, 1, until->milliseconds);

    close(epoll);
    return count == 0;
}

static int do_cond_timedwait(const struct until *until)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_condattr_t attributes;
    pthread_cond_t condition;
    int error;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    pthread_mutex_lock(&mutex);
    do {
        error = pthread_cond_timedwait(&condition, &mutex, &until->time);
    } while (error == 0);
    pthread_mutex_unlock(&mutex);
    return error == ETIMEDOUT;
}

static int do_cond_clockwait(const struct until *until)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    int error;

    pthread_mutex_lock(&mutex);
    do {
        error = pthread_cond_clockwait(&condition, &mutex, until->clock,
                                       &until->time);
    } while (error == 0);
    pthread_mutex_unlock(&mutex);
    return error == ETIMEDOUT;
}

static int do_sem_clockwait(const struct until *until)
{
    sem_t semaphore;

    sem_init(&semaphore, 0, 0);
    return sem_clockwait(&semaphore, until->clock, &until->time) != 0 &&
           errno == ETIMEDOUT;
}

/* Locks that another thread holds for ever. */
static pthread_mutex_t held_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held_lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t are_held;

static void *hold(void *unused)
{
    pthread_mutex_lock(&held_mutex);
    pthread_rwlock_wrlock(&held_lock);
    sem_post(&are_held);
    while (!is_over) {
        usleep(20000);
    }
    return unused;
}

static int do_mutex_clocklock(const struct until *until)
{
    return pthread_mutex_clocklock(&held_mutex, until->clock, &until->time) ==
           ETIMEDOUT;
}

static int do_rwlock_clockrdlock(const struct until *until)
{
    return pthread_rwlock_clockrdlock(&held_lock, until->clock, &until->time) ==
           ETIMEDOUT;
}

static int do_rwlock_clockwrlock(const struct until *until)
{
    return pthread_rwlock_clockwrlock(&held_lock, until->clock, &until->time) ==
           ETIMEDOUT;
}

static void *await_end(void *unused)
{
    while (!is_over) {
        usleep(20000);
    }
    return unused;
}

static int do_clockjoin(const struct until *until)
{
    pthread_t thread;
    int error;

    pthread_create(&thread, NULL, await_end, NULL);
    error = pthread_clockjoin_np(thread, NULL, until->clock, &until->time);
    pthread_detach(thread);
    return error == ETIMEDOUT;
}

static int do_futex(const struct until *until)
{
    uint32_t word = 0;

    return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until->time,
                   NULL, FUTEX_BITSET_MATCH_ANY) != 0 &&
           errno == ETIMEDOUT;
}

static int do_futex_waitv(const struct until *until)
{
    uint32_t word = 0;
    struct {
        uint64_t value, address;
        uint32_t flags, reserved;
    } wait = {0, (uintptr_t)&word, 2 | 128, 0};

    return syscall(NUMBER_FUTEX_WAITV, &wait, 1, 0, &until->time,
                   until->clock) != 0 &&
           errno == ETIMEDOUT;
}

static int do_timerfd(const struct until *until, int flags,
                      const struct itimerspec *value)
{
    uint64_t count = 0;
    int fd = timerfd_create(until->clock, TFD_CLOEXEC);
    ssize_t size;

    timerfd_settime(fd, flags, value, NULL);
    size = read(fd, &count, sizeof(count));
    close(fd);
    return size == sizeof(count) && count == 1;
}

static int do_timerfd_absolute(const struct until *until)
{
    const struct itimerspec value = {.it_value = until->time};

    return do_timerfd(until, TFD_TIMER_ABSTIME, &value);
}

static int do_timerfd_relative(const struct until *until)
{
    const struct itimerspec value = {
        .it_value = {until->milliseconds / 1000,
                     until->milliseconds % 1000 * 1000000l}};

    return do_timerfd(until, 0, &value);
}

static int do_timer(const struct until *until)
{
    const struct itimerspec value = {.it_value = until->time};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGRTMIN + 1};
    siginfo_t info;
    sigset_t set;
    timer_t timer;
    int signal;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    timer_create(until->clock, &event, &timer);
    timer_settime(timer, TIMER_ABSTIME, &value, NULL);
    do {
        signal = sigwaitinfo(&set, &info);
    } while (signal < 0 && errno == EINTR);
    timer_delete(timer);
    return signal == SIGRTMIN + 1;
}

static struct wait {
    const char *name;
    clockid_t clock;
    int (*wait)(const struct until *until);
    pthread_t thread;
    volatile int has_begun, has_ended;
} waits[] = {
    {"clock_nanosleep", CLOCK_MONOTONIC, do_clock_nanosleep, 0, 0, 0},
    {"clock_nanosleep_boot", CLOCK_BOOTTIME, do_clock_nanosleep, 0, 0, 0},
    {"nanosleep", CLOCK_MONOTONIC, do_nanosleep, 0, 0, 0},
    {"poll", CLOCK_MONOTONIC, do_poll, 0, 0, 0},
    {"select", CLOCK_MONOTONIC, do_select, 0, 0, 0},
    {"epoll", CLOCK_MONOTONIC, do_epoll, 0, 0, 0},
    {"cond_timedwait", CLOCK_MONOTONIC, do_cond_timedwait, 0, 0, 0},
    {"cond_clockwait", CLOCK_MONOTONIC, do_cond_clockwait, 0, 0, 0},
    {"sem_clockwait", CLOCK_MONOTONIC, do_sem_clockwait, 0, 0, 0},
    {"mutex_clocklock", CLOCK_MONOTONIC, do_mutex_clocklock, 0, 0, 0},
    {"rwlock_clockrdlock", CLOCK_MONOTONIC, do_rwlock_clockrdlock, 0, 0, 0},
    {"rwlock_clockwrlock", CLOCK_MONOTONIC, do_rwlock_clockwrlock, 0, 0, 0},
    {"clockjoin", CLOCK_MONOTONIC, do_clockjoin, 0, 0, 0},
    {"futex", CLOCK_MONOTONIC, do_futex, 0, 0, 0},
    {"futex_waitv", CLOCK_MONOTONIC, do_futex_waitv, 0, 0, 0},
    {"timerfd_absolute", CLOCK_MONOTONIC, do_timerfd_absolute, 0, 0, 0},
    {"timerfd_absolute_boot", CLOCK_BOOTTIME, do_timerfd_absolute, 0, 0, 0},
    {"timerfd_relative", CLOCK_MONOTONIC, do_timerfd_relative, 0, 0, 0},
    {"timer", CLOCK_MONOTONIC, do_timer, 0, 0, 0},
};
#define COUNT (sizeof(waits) / sizeof(waits[0]))

static struct until later(clockid_t clock, int milliseconds)
{
    struct until until = {.clock = clock, .milliseconds = milliseconds};

    clock_gettime(clock, &until.time);
    until.time.tv_sec += milliseconds / 1000;
    until.time.tv_nsec += milliseconds % 1000 * 1000000l;
    until.time.tv_sec += until.time.tv_nsec / 1000000000;
    until.time.tv_nsec %= 1000000000;
    return until;
}

static void wait_once(struct wait *wait, int milliseconds)
{
    /* This comes first, as time passes between the two. */
    const int64_t start = read_ms(wait->clock);
    const struct until until = later(wait->clock, milliseconds);
    int64_t took;

    wait->has_begun = 1;
    if (!wait->wait(&until)) {
        fail(wait->name, "not timed out, error", errno);
    }
    took = read_ms(wait->clock) - start;
    if (took < milliseconds - 1 || took > milliseconds + LATE_MS) {
        fail(wait->name, "ms of the wait:", (long)took);
    }
}

static void *run(void *argument)
{
    struct wait *wait = argument;
    int64_t day;

    wait_once(wait, LONG_MS);
    while (!is_open) {
        usleep(20000);
    }
    day = read_ms(CLOCK_REALTIME);
    wait_once(wait, SHORT_MS);
    day = read_ms(CLOCK_REALTIME) - day;
    if (day > SHORT_MS + LATE_MS) {
        fail(wait->name, "ms of the short wait by the time of day:", (long)day);
    }
    wait->has_ended = 1;
    return NULL;
}

static const struct {
    const char *name;
    clockid_t clock;
} clocks[] = {
    {"CLOCK_MONOTONIC", CLOCK_MONOTONIC},
    {"CLOCK_MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE},
    {"CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW},
    {"CLOCK_BOOTTIME", CLOCK_BOOTTIME},
    {"CLOCK_BOOTTIME_ALARM", CLOCK_BOOTTIME_ALARM},
};
#define CLOCK_COUNT (sizeof(clocks) / sizeof(clocks[0]))

static int64_t read_by(clockid_t clock, int by_call)
{
    struct timespec time = {0, 0};

    if (by_call) { /* syscall(), for any call's number */
        syscall(SYS_clock_gettime, clock, &time);
    } else {
        clock_gettime(clock, &time);
    }
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Reads the clocks all the time, so that a checkpoint interrupts a read. */
static void *read_clocks(void *unused)
{
    int64_t last[CLOCK_COUNT];

    for (size_t i = 0; i < CLOCK_COUNT; i++) {
        last[i] = read_by(clocks[i].clock, 0);
    }
    for (long round = 0; !is_over; round++) {
        const size_t i = round % 64 != 0 ? 0 : (size_t)(round / 64) % CLOCK_COUNT;
        const int64_t now = read_by(clocks[i].clock, round % 3 == 0);

        if (now < last[i] || now - last[i] > JUMP_MS * INT64_C(1000000)) {
            fail(clocks[i].name, "ns it went:", (long)(now - last[i]));
        }
        last[i] = now;
    }
    return unused;
}

/* There is little time between two signals, and clock reads fill it. */
static void handle(int signal)
{
    const int64_t end = read_ms(CLOCK_REALTIME) + 20;

    (void)signal;
    while (read_ms(CLOCK_REALTIME) < end) {
    }
}

static void read_in_first_thread(int with_handler)
{
    const struct itimerval often = {{0, 21000}, {0, 21000}};
    int64_t last, now = read_by(CLOCK_MONOTONIC, 0);

    if (with_handler) {
        signal(SIGVTALRM, handle);
        setitimer(ITIMER_VIRTUAL, &often, NULL);
    }
    for (long round = 1; round % 10000 != 0 || access(gate, F_OK) != 0; round++) {
        last = now;
        now = read_by(CLOCK_MONOTONIC, 0);
        if (!with_handler &&
            (now < last || now - last > JUMP_MS * INT64_C(1000000))) {
            fail("reading", "ns it went:", (long)(now - last));
        }
    }
}

/* Runs only after the restart: libc's threads for AIO block all signals, so a checkpoint would be
 * refused. */
static void wait_for_file(void)
{
    const struct timespec time = {0, SHORT_MS * 1000000l};
    char byte;
    struct aiocb request = {.aio_buf = &byte, .aio_nbytes = 1};
    const struct aiocb *const list[] = {&request};
    int64_t day;
    int ends[2];

    if (pipe(ends) != 0) {
        abort();
    }
    request.aio_fildes = ends[0];
    aio_read(&request);
    day = read_ms(CLOCK_REALTIME);
    if (aio_suspend(list, 1, &time) == 0 || errno != EAGAIN) {
        fail("aio_suspend", "not timed out, error", errno);
    }
    day = read_ms(CLOCK_REALTIME) - day;
    if (day < SHORT_MS - 1 || day > SHORT_MS + LATE_MS) {
        fail("aio_suspend", "ms of the wait:", (long)day);
    }
    if (write(ends[1], "!", 1) != 1) {
        abort();
    }
    while (aio_error(&request) == EINPROGRESS) { /* libc still writes to the request */
        aio_suspend(list, 1, NULL);
    }
    if (aio_return(&request) != 1) {
        abort();
    }
}

static void give_up(int signal)
{
    (void)signal;
    for (size_t i = 0; i < COUNT; i++) {
        if (waits[i].thread != 0 && !waits[i].has_ended) {
            fail(waits[i].name, "it never ends, error", 0);
        }
    }
    _exit(1);
}

static void start(const char *name)
{
    pthread_t thread;

    sem_init(&are_held, 0, 0);
    pthread_create(&thread, NULL, hold, NULL);
    sem_wait(&are_held);
    pthread_create(&thread, NULL, read_clocks, NULL);
    for (size_t i = 0; i < COUNT; i++) {
        if (name == NULL || strcmp(name, waits[i].name) == 0) {
            pthread_create(&waits[i].thread, NULL, run, &waits[i]);
            while (!waits[i].has_begun) {
                usleep(1000);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const char *name;
    sigset_t set;
    int is_reader;

    if (argc < 2) {
        return 2;
    }
    gate = argv[1];
    signal(SIGALRM, give_up);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    name = argc > 2 ? argv[2] : NULL;
    is_reader = name != NULL && (strcmp(name, "reading") == 0 ||
                                 strcmp(name, "handler") == 0);
    if (!is_reader) {
        start(name);
    }
    printf("READY\n");
    fflush(stdout);
    if (is_reader) {
        read_in_first_thread(strcmp(name, "handler") == 0);
    }
    while (access(gate, F_OK) != 0) {
        usleep(20000);
    }
    alarm(TIMEOUT_S);
    is_open = 1;
    for (size_t i = 0; i < COUNT; i++) {
        if (waits[i].thread != 0) {
            pthread_join(waits[i].thread, NULL);
        }
    }
    if (!is_reader) {
        wait_for_file();
    }
    is_over = 1;
    printf(failures == 0 ? "OK\n" : "WRONG\n");
    return failures == 0 ? 0 : 1;
}
