/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_limits.c - a program's settings in the kernel: limits, priority,
 * policy, personality, prctl settings. Settings that the program leaves alone
 * come from the launcher.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static void set_limit(int resource, rlim_t value)
{
    struct rlimit limit;

    CHECK(getrlimit(resource, &limit) == 0);
    limit.rlim_cur = value;
    CHECK(setrlimit(resource, &limit) == 0);
}

static rlim_t get_limit(int resource)
{
    struct rlimit limit;

    CHECK(getrlimit(resource, &limit) == 0);
    return limit.rlim_cur;
}

int main(int argc, char **argv)
{
    const struct sched_param none = {0};
    char name[16] = "";
    int signal = 0;

    set_limit(RLIMIT_CPU, 123456); /* before MPI_Init, too */
    probe_begin(argc, argv, 2);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, 250);
    CHECK(setpriority(PRIO_PROCESS, 0, 7) == 0);
    CHECK(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
    CHECK(personality(ADDR_COMPAT_LAYOUT) >= 0);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_TIMERSLACK, 200000, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_NAME, "a new name", 0, 0, 0) == 0);
    probe_gate();
    CHECK(get_limit(RLIMIT_CPU) == 123456);
    CHECK(get_limit(RLIMIT_CORE) == 0);
    CHECK(get_limit(RLIMIT_NOFILE) == 250);
    CHECK(getpriority(PRIO_PROCESS, 0) == 7);
    CHECK(sched_getscheduler(0) == SCHED_BATCH);
    CHECK((personality(0xffffffff) & ADDR_COMPAT_LAYOUT) != 0);
    CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    CHECK(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) == 200000);
    CHECK(prctl(PR_GET_PDEATHSIG, &signal, 0, 0, 0) == 0);
    CHECK(signal == SIGTERM);
    CHECK(prctl(PR_GET_NAME, name, 0, 0, 0) == 0);
    CHECK(strcmp(name, "a new name") == 0);
    return probe_end();
}
