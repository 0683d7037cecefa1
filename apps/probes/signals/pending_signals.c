/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending_signals.c - signals that are pending because they are blocked: for
 * the process and for single threads, with their values, in their order; and
 * alternate stacks and masks of threads.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

#define STACK_SIZE 65536
#define QUEUED     300 /* more than fit into a page */

static __thread int handled, next_value;
static __thread char *stack;
static sem_t is_ready, go_on;
static volatile int alarms;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    char here;

    (void)signal, (void)context;
    CHECK(&here >= stack && &here < stack + STACK_SIZE);
    CHECK(info->si_pid == getpid() && info->si_uid == getuid());
    if (info->si_code == SI_QUEUE) {
        CHECK(info->si_value.sival_int == next_value);
        next_value++;
    }
    handled++;
}

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void use_own_stack(void)
{
    stack_t alternate = {.ss_size = STACK_SIZE};

    stack = malloc(STACK_SIZE);
    alternate.ss_sp = stack;
    CHECK(stack != NULL && sigaltstack(&alternate, NULL) == 0);
}

static sigset_t set_of(int first, int second)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, first);
    sigaddset(&set, second);
    return set;
}

static void block(sigset_t set)
{
    CHECK(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}

static void unblock(sigset_t set)
{
    CHECK(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void queue_to(pthread_t thread, int first)
{
    for (int i = 0; i < QUEUED; i++) {
        const union sigval value = {.sival_int = first + i};

        CHECK(pthread_sigqueue(thread, SIGRTMIN, value) == 0);
    }
}

/* Only this thread has its own pending signals. */
static void *wait_with_signals(void *unused)
{
    sigset_t pending;

    (void)unused;
    block(set_of(SIGRTMIN, SIGUSR1));
    use_own_stack();
    next_value = 1000;
    queue_to(pthread_self(), 1000);
    CHECK(pthread_kill(pthread_self(), SIGUSR1) == 0);
    CHECK(sem_post(&is_ready) == 0);
    while (sem_wait(&go_on) != 0) {
        CHECK(errno == EINTR);
    }
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) &&
          sigismember(&pending, SIGRTMIN) && handled == 0);
    unblock(set_of(SIGRTMIN, SIGUSR1));
    CHECK(handled == QUEUED + 1 && next_value == 1000 + QUEUED);
    return NULL;
}

/* Starts a periodic timer; its SIGALRM has expired and is pending. */
static void start_alarms(void)
{
    const struct itimerval often = {{0, 3000}, {0, 1}};

    CHECK(signal(SIGALRM, on_alarm) != SIG_ERR);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
}

static void await_alarms(void)
{
    const struct itimerval off = {{0, 0}, {0, 0}};

    while (alarms < 10) {
        pause();
    }
    CHECK(setitimer(ITIMER_REAL, &off, NULL) == 0);
}

static void set_handlers(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};

    CHECK(sigaction(SIGRTMIN, &action, NULL) == 0);
    CHECK(sigaction(SIGRTMIN + 1, &action, NULL) == 0);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
}

static void check_own_signals(void)
{
    sigset_t mask;

    CHECK(handled == 0 && alarms == 0);
    next_value = 0;
    unblock(set_of(SIGRTMIN, SIGRTMIN));
    CHECK(handled == QUEUED && next_value == QUEUED);
    next_value = 1;
    unblock(set_of(SIGRTMIN + 1, SIGRTMIN + 1));
    CHECK(handled == QUEUED + 1 && next_value == 2);
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0);
    CHECK(sigismember(&mask, SIGUSR2) && !sigismember(&mask, SIGRTMIN));
    unblock(set_of(SIGALRM, SIGALRM));
}

int main(int argc, char **argv)
{
    const union sigval value = {.sival_int = 1};
    pthread_t thread;

    block(set_of(SIGRTMIN, SIGRTMIN + 1)); /* all future threads inherit this */
    block(set_of(SIGALRM, SIGUSR2));
    probe_begin(argc, argv, 2);
    use_own_stack();
    set_handlers();
    CHECK(sem_init(&is_ready, 0, 0) == 0 && sem_init(&go_on, 0, 0) == 0);
    CHECK(pthread_create(&thread, NULL, wait_with_signals, NULL) == 0);
    CHECK(sem_wait(&is_ready) == 0);
    queue_to(pthread_self(), 0);
    CHECK(sigqueue(getpid(), SIGRTMIN + 1, value) == 0);
    start_alarms();
    probe_gate();
    CHECK(sem_post(&go_on) == 0 && pthread_join(thread, NULL) == 0);
    check_own_signals();
    await_alarms();
    return probe_end();
}
