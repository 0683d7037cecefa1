/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * small_stacks.c - threads on very small stacks, with other data just below, and with an alternate
 * stack for handlers, as goroutines have.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#define THREADS 2
#define BELOW   (256 * 1024)
#define FILLING 0x5a

/* A thread, its alternate stack and its small one. */
struct runner {
    char others[BELOW];
    char small[16 * 1024];
    char more_of_others[BELOW];
    char alternate[64 * 1024];
    ucontext_t outside, inside;
};

static struct runner runners[1 + THREADS];
static volatile int is_open;

static void check_others(const char *bytes)
{
    for (int i = 0; i < BELOW; i++) {
        CHECK(bytes[i] == FILLING);
    }
}

/* Runs on the small stack of a runner, which has `room` bytes. */
static void run(struct runner *runner, size_t room, void (*function)(void))
{
    stack_t alternate = {.ss_sp = runner->alternate, .ss_size = sizeof(runner->alternate)};
    stack_t seen;

    memset(runner->others, FILLING, BELOW);
    memset(runner->more_of_others, FILLING, BELOW);
    memset(runner->small, FILLING, sizeof(runner->small));
    CHECK(sigaltstack(&alternate, NULL) == 0);
    CHECK(getcontext(&runner->inside) == 0);
    runner->inside.uc_stack.ss_sp = runner->small + sizeof(runner->small) - room;
    runner->inside.uc_stack.ss_size = room;
    runner->inside.uc_link = &runner->outside;
    makecontext(&runner->inside, function, 0);
    CHECK(swapcontext(&runner->outside, &runner->inside) == 0);
    CHECK(sigaltstack(NULL, &seen) == 0);
    CHECK(seen.ss_sp == alternate.ss_sp && seen.ss_size == alternate.ss_size);
    check_others(runner->others);
    check_others(runner->more_of_others);
    for (size_t i = 0; i < sizeof(runner->small) - room; i++) {
        CHECK(runner->small[i] == FILLING);
    }
}

static void turn(void)
{
    while (!is_open) {
        usleep(1000);
    }
}

static void *work(void *argument)
{
    run(argument, 4096, turn);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    probe_begin(argc, argv, 2);
    /* The first call's symbol look-up needs more stack. */
    usleep(1);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, &runners[i + 1]) == 0);
    }
    run(&runners[0], sizeof(runners[0].small), probe_gate);
    is_open = 1;
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
    return probe_end();
}
