/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_stack.c - a handler runs nearly all the time on an alternate stack
 * that is only as large as the handler needs: a checkpoint must not need more.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#define BUSY 20000000 /* nanoseconds */
/* Bytes for the handler itself: less than another frame. */
#define REST 1500

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static char *stack;
static size_t stack_size;
static volatile long handled;

/* Makes a stack little larger than a signal frame, with nothing below. */
static void make_stack(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    stack_t alternate = {.ss_flags = 0};

    frame = frame < 2048 ? 2048 : frame; /* the former constant */
    stack_size = (frame + REST + page - 1) / page * page;
    stack = mmap(NULL, page + stack_size, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(stack != MAP_FAILED);
    stack += page;
    CHECK(mprotect(stack, stack_size, PROT_READ | PROT_WRITE) == 0);
    /* The frame begins at the top; REST bytes are left for the handler. */
    alternate.ss_sp = stack + stack_size - frame - REST;
    alternate.ss_size = frame + REST;
    CHECK(sigaltstack(&alternate, NULL) == 0);
}

static void on_signal(int signal)
{
    struct timespec start, now;
    char here;

    (void)signal;
    CHECK(&here >= stack && &here < stack + stack_size);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec -
                 start.tv_nsec <
             BUSY);
    handled++;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    long raised = 0;

    probe_begin(argc, argv, 2);
    make_stack();
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    probe_show(0);
    while (access(probe_gate_file, F_OK) != 0) {
        CHECK(raise(SIGUSR1) == 0);
        raised++;
        probe_show(raised);
        CHECK(handled == raised);
    }
    return probe_end();
}
