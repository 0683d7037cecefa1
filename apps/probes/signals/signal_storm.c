/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_storm.c - handlers run all the time: in the program, inside MPI calls,
 * during a checkpoint. Timers of all three kinds and another thread send
 * signals, from before MPI_Init to after MPI_Finalize; some end system calls,
 * some run on an alternate stack. No queued signal is lost, duplicated or out
 * of order, and handlers find the thread-local variables of their thread.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#define PERIOD  1000 /* microseconds */
#define MARK    UINT64_C(0x5ca1ab1e)
#define WORDS   20000 /* of a message: too large to be sent at once */
#define SIGNALS 5

static __thread uint64_t mark = MARK;
static pthread_t main_thread;
static volatile int sent, is_over;
static volatile long received, handled[SIGNALS];
static char alternate_stack[65536], *outgoing, *incoming;

/* Makes calls that any handler may make; preserves the program's errno. */
static void use_libc(int which)
{
    const int before = errno;
    struct timespec now;
    char text[64];

    CHECK(mark == MARK);
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    CHECK(snprintf(text, sizeof text, "%.3f", 2.5) == 5);
    CHECK(strcmp(text, "2.500") == 0);
    CHECK(close(-1) < 0 && errno == EBADF);
    errno = before;
    handled[which]++;
}

static void on_alarm(int signal)
{
    (void)signal;
    use_libc(0);
}

static void on_profile(int signal)
{
    (void)signal;
    use_libc(1);
}

static void on_virtual(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    CHECK(context != NULL);
    use_libc(2);
}

/* Runs on the alternate stack, which must suffice. A handler that runs longer
 * than a period is likely to be interrupted by a checkpoint. */
static void on_user(int signal, siginfo_t *info, void *context)
{
    char here;
    struct timespec start, now;

    (void)signal, (void)context;
    CHECK(&here >= alternate_stack &&
          &here < alternate_stack + sizeof alternate_stack);
    CHECK(info->si_code == SI_TKILL);
    use_libc(3);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec -
                 start.tv_nsec <
             PERIOD * 300);
}

static void on_queued(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    CHECK(info->si_code == SI_QUEUE);
    CHECK(info->si_value.sival_int == received);
    received++;
    use_libc(4);
}

static void handle(int signal, int flags, void *handler)
{
    struct sigaction action = {.sa_flags = flags};

    if ((flags & SA_SIGINFO) != 0) {
        action.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
    } else {
        action.sa_handler = (void (*)(int))handler;
    }
    CHECK(sigaction(signal, &action, NULL) == 0);
}

static void set_handlers(void)
{
    const stack_t stack = {.ss_sp = alternate_stack,
                           .ss_size = sizeof alternate_stack};

    main_thread = pthread_self();
    CHECK(sigaltstack(&stack, NULL) == 0);
    handle(SIGALRM, SA_RESTART, (void *)on_alarm);
    handle(SIGPROF, 0, (void *)on_profile);
    handle(SIGVTALRM, SA_SIGINFO | SA_NODEFER, (void *)on_virtual);
    handle(SIGUSR1, SA_SIGINFO | SA_ONSTACK, (void *)on_user);
    handle(SIGRTMIN + 3, SA_SIGINFO | SA_RESTART, (void *)on_queued);
}

static void set_timers(suseconds_t period)
{
    const struct itimerval time = {{0, period}, {0, period}};

    CHECK(setitimer(ITIMER_REAL, &time, NULL) == 0);
    CHECK(setitimer(ITIMER_VIRTUAL, &time, NULL) == 0);
    CHECK(setitimer(ITIMER_PROF, &time, NULL) == 0);
}

/* This thread blocks all signals, so the program's own signals go to the main
 * thread. */
static void *send_signals(void *unused)
{
    const struct timespec pause = {0, PERIOD * 1000};

    (void)unused;
    while (!is_over) {
        const union sigval value = {.sival_int = sent};

        CHECK(nanosleep(&pause, NULL) == 0);
        CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
        sent += pthread_sigqueue(main_thread, SIGRTMIN + 3, value) == 0;
    }
    return NULL;
}

static pthread_t start_sender(void)
{
    pthread_t sender;
    sigset_t all, before;

    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    CHECK(pthread_create(&sender, NULL, send_signals, NULL) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    return sender;
}

static void exchange(uint64_t step)
{
    const size_t size = WORDS * (1 + step % 3);
    const int peer = 1 - probe_rank;
    MPI_Request requests[2];
    uint64_t sum = 0, mine = step * 2 + (uint64_t)probe_rank;

    fill(outgoing, size, mix4(step, (uint64_t)probe_rank, 0, 0));
    MPI_Irecv(incoming, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(outgoing, (int)size, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(is_filled(incoming, size, mix4(step, (uint64_t)peer, 0, 0)));
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == step * 4 + 1);
}

/* Waits, computing, until each kind of signal has come again. */
static void expect_all(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        const long enough = handled[i] + 20;

        while (handled[i] < enough) {
            fill(outgoing, WORDS, (uint64_t)i);
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t sender;
    int level;

    set_handlers();
    outgoing = malloc(3 * WORDS);
    incoming = malloc(3 * WORDS);
    CHECK(outgoing != NULL && incoming != NULL);
    set_timers(PERIOD);
    sender = start_sender();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    probe_begin_initialized(argc, argv, 2);
    for (uint64_t step = 0; probe_gate_step(); step++) {
        exchange(step);
    }
    expect_all();
    is_over = 1;
    CHECK(pthread_join(sender, NULL) == 0);
    CHECK(received == sent);
    set_timers(0);
    return probe_end();
}
