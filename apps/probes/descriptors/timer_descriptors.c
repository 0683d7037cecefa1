/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timer_descriptors.c - timers and signals that are read from descriptors, also by epoll: running,
 * expired but not yet read, set to a time of day.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

#define LONG      1000 /* seconds, of those that do not expire */
#define TOLERANCE 0.5  /* seconds, of timers that do not expire */

enum {
    RUNNING,
    ABSOLUTE,
    EXPIRED,
    PERIODIC,
    COARSE,
    DISARMED,
    FAST,
    TIMERS
};

static int timers[TIMERS], signals, twin, epoll;
static double armed_at, armed_time_of_day;

static double time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct timespec after(time_t seconds, long nanoseconds)
{
    return (struct timespec){seconds, nanoseconds};
}

static void make(int which, clockid_t clock, int flags, struct timespec first,
                 struct timespec interval)
{
    const struct itimerspec time = {interval, first};

    timers[which] = timerfd_create(clock, which % 2 == 0 ? TFD_NONBLOCK
                                                         : TFD_CLOEXEC);
    CHECK(timers[which] >= 0);
    CHECK(timerfd_settime(timers[which], flags, &time, NULL) == 0);
}

static void make_timers(void)
{
    const struct timespec never = {0, 0};
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 5};

    armed_at = MPI_Wtime();
    armed_time_of_day = time_of_day();
    make(RUNNING, CLOCK_REALTIME, 0, after(LONG, 0), after(3, 0));
    make(ABSOLUTE, CLOCK_REALTIME, TFD_TIMER_ABSTIME,
         after((time_t)armed_time_of_day + LONG, 0), never);
    make(EXPIRED, CLOCK_MONOTONIC, 0, after(0, 1), never);
    make(PERIODIC, CLOCK_MONOTONIC, 0, after(0, 1000000), after(0, 1000000));
    make(COARSE, CLOCK_BOOTTIME, 0, after(0, 1), after(0, 200000000));
    make(DISARMED, CLOCK_MONOTONIC, 0, never, never);
    make(FAST, CLOCK_MONOTONIC, 0, after(0, 5000), after(0, 5000));
    epoll = epoll_create1(0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, timers[COARSE], &event) == 0);
}

static void queue_signals(const sigset_t *set)
{
    signals = signalfd(-1, set, SFD_NONBLOCK | SFD_CLOEXEC);
    twin = dup(signals);
    CHECK(signals >= 0 && twin >= 0);
    CHECK(kill(getpid(), SIGUSR1) == 0);
    for (int i = 0; i < 3; i++) {
        const union sigval value = {.sival_int = 40 + i};

        CHECK(sigqueue(getpid(), SIGRTMIN + 2, value) == 0);
    }
}

static void check_left(int which, double left)
{
    struct itimerspec time;

    CHECK(timerfd_gettime(timers[which], &time) == 0);
    left -= (double)time.it_value.tv_sec + 1e-9 * (double)time.it_value.tv_nsec;
    if (left < -TOLERANCE || left > TOLERANCE) {
        fprintf(stderr, "timer %d: off by %g s\n", which, left);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static uint64_t ticks(int which)
{
    uint64_t count = 0;

    return read(timers[which], &count, sizeof count) == sizeof count ? count
                                                                     : 0;
}

static void check_timers(void)
{
    const double elapsed = MPI_Wtime() - armed_at;
    struct epoll_event event;
    struct itimerspec time;
    uint64_t count = ticks(PERIODIC);

    check_left(RUNNING, LONG - elapsed);
    check_left(ABSOLUTE, (double)(time_t)armed_time_of_day + LONG -
                             time_of_day());
    CHECK(timerfd_gettime(timers[RUNNING], &time) == 0);
    CHECK(time.it_interval.tv_sec == 3 && time.it_interval.tv_nsec == 0);
    CHECK(ticks(EXPIRED) == 1);
    CHECK(ticks(EXPIRED) == 0 && errno == EAGAIN);
    if ((double)count < (elapsed - TOLERANCE) * 1000 ||
        (double)count > (elapsed + TOLERANCE) * 1000) {
        fprintf(stderr, "%g ticks in %g s\n", (double)count, elapsed);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    CHECK(ticks(PERIODIC) > 0);
    for (int i = 0; i < 3; i++) {
        CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.u64 == 5);
        CHECK(ticks(COARSE) > 0);
    }
    for (int i = 0; i < 3; i++) { /* it is due at nearly any time that it is saved */
        struct pollfd fast = {.fd = timers[FAST], .events = POLLIN};

        CHECK(poll(&fast, 1, 5000) == 1 && ticks(FAST) > 0);
    }
    CHECK(timerfd_gettime(timers[DISARMED], &time) == 0);
    CHECK(time.it_value.tv_sec == 0 && time.it_value.tv_nsec == 0);
    for (int i = 0; i < TIMERS; i++) {
        CHECK(((fcntl(timers[i], F_GETFL) & O_NONBLOCK) != 0) == (i % 2 == 0));
        CHECK((fcntl(timers[i], F_GETFD) & FD_CLOEXEC) == (i % 2));
    }
}

static void check_signals(void)
{
    struct signalfd_siginfo info;

    CHECK(read(signals, &info, sizeof info) == sizeof info);
    CHECK(info.ssi_signo == SIGUSR1 && info.ssi_pid == (unsigned)getpid());
    for (int i = 0; i < 3; i++) {
        CHECK(read(twin, &info, sizeof info) == sizeof info);
        CHECK(info.ssi_signo == (unsigned)SIGRTMIN + 2);
        CHECK(info.ssi_code == SI_QUEUE && info.ssi_int == 40 + i);
        CHECK(info.ssi_pid == (unsigned)getpid());
    }
    CHECK(read(signals, &info, sizeof info) < 0 && errno == EAGAIN);
    CHECK(raise(SIGUSR1) == 0);
    CHECK(read(signals, &info, sizeof info) == sizeof info);
    CHECK(info.ssi_signo == SIGUSR1);
}

int main(int argc, char **argv)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN + 2);
    /* It is due at nearly any time of a checkpoint. */
    CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
    probe_begin(argc, argv, 2);
    make_timers();
    queue_signals(&set);
    probe_gate();
    check_timers();
    check_signals();
    return probe_end();
}
