/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timers.c - timers that send signals: of setitimer and timer_create, of all clocks and kinds of
 * notification. After a restart they run for their remaining time, and keep their ids.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define PERIOD    5000000l /* nanoseconds, of timers that fire */
#define LONG      1000     /* seconds, of timers that do not */
#define TOLERANCE 0.5      /* seconds */
#define MORE      20       /* expirations after the gate */

enum {
    SIGNALLED,
    THREAD,
    TO_THREAD,
    SILENT,
    ABSOLUTE,
    PROCESS_CPU,
    THREAD_CPU,
    DISARMED,
    TIMERS
};

static timer_t timers[TIMERS];
static volatile long alarms, signals, calls, received;
static double armed_at, armed_time_of_day;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    CHECK(info->si_code == SI_TIMER && info->si_value.sival_ptr == &signals);
    signals++;
}

static void on_call(union sigval value)
{
    __atomic_fetch_add((volatile long *)value.sival_ptr, 1, __ATOMIC_RELAXED);
}

static void *receive(void *tid)
{
    sigset_t set;
    siginfo_t info;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 1);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    __atomic_store_n((volatile pid_t *)tid, gettid(), __ATOMIC_RELEASE);
    for (;;) {
        while (sigwaitinfo(&set, &info) < 0) {
            CHECK(errno == EINTR);
        }
        CHECK(info.si_code == SI_TIMER && info.si_value.sival_int == 77);
        received++;
    }
    return NULL;
}

static void create(int which, clockid_t clock, struct sigevent *event)
{
    CHECK(timer_create(clock, event, &timers[which]) == 0);
}

static void arm(int which, int flags, time_t seconds, long period)
{
    const struct itimerspec time = {{0, period}, {seconds, period}};

    CHECK(timer_settime(timers[which], flags, &time, NULL) == 0);
}

static struct sigevent event(int notify, int signal, void *value)
{
    struct sigevent event = {.sigev_notify = notify, .sigev_signo = signal};

    event.sigev_value.sival_ptr = value;
    return event;
}

static void make_timers(void)
{
    static volatile pid_t tid;
    struct sigevent with_signal = event(SIGEV_SIGNAL, SIGRTMIN, (void *)&signals);
    struct sigevent call = event(SIGEV_THREAD, 0, (void *)&calls);
    struct sigevent to_thread = event(SIGEV_THREAD_ID, SIGRTMIN + 1, NULL);
    struct sigevent silent = event(SIGEV_NONE, 0, NULL);
    pthread_t receiver;
    timer_t passing;

    CHECK(pthread_create(&receiver, NULL, receive, (void *)&tid) == 0);
    while (__atomic_load_n(&tid, __ATOMIC_ACQUIRE) == 0) {
        sched_yield();
    }
    to_thread._sigev_un._tid = tid;
    to_thread.sigev_value.sival_int = 77;
    call.sigev_notify_function = on_call;
    CHECK(timer_create(CLOCK_MONOTONIC, NULL, &passing) == 0);
    create(SIGNALLED, CLOCK_REALTIME, &with_signal);
    create(THREAD, CLOCK_BOOTTIME, &call);
    CHECK(timer_delete(passing) == 0);
    create(TO_THREAD, CLOCK_MONOTONIC, &to_thread);
    create(SILENT, CLOCK_REALTIME, &silent);
    create(ABSOLUTE, CLOCK_REALTIME, &silent);
    create(PROCESS_CPU, CLOCK_PROCESS_CPUTIME_ID, &silent);
    create(THREAD_CPU, CLOCK_THREAD_CPUTIME_ID, NULL);
    create(DISARMED, CLOCK_MONOTONIC, NULL);
}

static double time_of_day(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void arm_timers(void)
{
    const struct itimerval often = {{0, PERIOD / 1000}, {0, PERIOD / 1000}};
    const struct itimerval rarely = {{7, 0}, {LONG, 0}};
    struct itimerspec at_time = {.it_value.tv_sec = LONG};

    armed_at = MPI_Wtime();
    armed_time_of_day = time_of_day();
    at_time.it_value.tv_sec += (time_t)armed_time_of_day;
    arm(SIGNALLED, 0, 0, PERIOD);
    arm(THREAD, 0, 0, PERIOD);
    arm(TO_THREAD, 0, 0, PERIOD);
    arm(SILENT, 0, LONG, 0);
    arm(PROCESS_CPU, 0, LONG, 0);
    arm(THREAD_CPU, 0, LONG, 0);
    CHECK(timer_settime(timers[ABSOLUTE], TIMER_ABSTIME, &at_time, NULL) == 0);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    CHECK(setitimer(ITIMER_VIRTUAL, &rarely, NULL) == 0);
    CHECK(setitimer(ITIMER_PROF, &rarely, NULL) == 0);
}

static void check_left(int which, double least, double most)
{
    struct itimerspec time;
    double left;

    CHECK(timer_gettime(timers[which], &time) == 0);
    left = (double)time.it_value.tv_sec + 1e-9 * (double)time.it_value.tv_nsec;
    if (left < least || left > most) {
        fprintf(stderr, "timer %d: %g s left, not %g to %g\n", which, left,
                least, most);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
}

static void check_interval(int which)
{
    struct itimerval timer;

    CHECK(getitimer(which, &timer) == 0);
    CHECK(timer.it_interval.tv_sec == 7 && timer.it_interval.tv_usec == 0);
    CHECK(timer.it_value.tv_sec > LONG - 100 && timer.it_value.tv_sec <= LONG);
}

static void await(const volatile long *counter)
{
    const long enough = *counter + MORE;

    while (*counter < enough) {
        pause();
    }
}

int main(int argc, char **argv)
{
    const struct itimerval off = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_sigaction = on_timer,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    double elapsed;

    probe_begin(argc, argv, 2);
    CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
    CHECK(signal(SIGALRM, on_alarm) != SIG_ERR);
    make_timers();
    arm_timers();
    probe_gate();
    elapsed = MPI_Wtime() - armed_at;
    check_left(SILENT, LONG - elapsed - TOLERANCE, LONG - elapsed + TOLERANCE);
    elapsed = time_of_day() - armed_time_of_day;
    check_left(ABSOLUTE, LONG - elapsed - 1 - TOLERANCE,
               LONG - elapsed + TOLERANCE);
    check_left(PROCESS_CPU, LONG - 100, LONG);
    check_left(THREAD_CPU, LONG - 100, LONG);
    check_left(DISARMED, 0, 0);
    check_interval(ITIMER_VIRTUAL);
    check_interval(ITIMER_PROF);
    await(&alarms);
    await(&signals);
    await(&calls);
    await(&received);
    for (int i = 0; i < TIMERS; i++) {
        CHECK(timer_delete(timers[i]) == 0);
    }
    CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);
    return probe_end();
}
