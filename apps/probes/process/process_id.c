/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_id.c - the process uses the id that it has remembered.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>

static volatile sig_atomic_t caught;
static sigset_t waited_for;

static void on_signal(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    CHECK(info->si_pid == getpid());
    caught++;
}

static void wait_for_own_signal(pid_t own)
{
    siginfo_t info;

    CHECK(kill(own, SIGUSR2) == 0);
    CHECK(sigwaitinfo(&waited_for, &info) == SIGUSR2 && info.si_pid == own);
}

static void signal_itself(pid_t own)
{
    CHECK(kill(own, SIGUSR1) == 0 && caught == 1);
    CHECK(sigqueue(own, SIGUSR1, (union sigval){0}) == 0 && caught == 2);
    CHECK(tgkill(own, gettid(), SIGUSR1) == 0 && caught == 3);
    CHECK(raise(SIGUSR1) == 0 && caught == 4);
}

static void ask_about_itself(pid_t own)
{
    int value = 7 + probe_rank, copy = 0;
    struct iovec from = {&value, sizeof value}, to = {&copy, sizeof copy};
    struct rlimit limit;
    cpu_set_t set;
    int fd = pidfd_open(own, 0);

    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(getpgid(own) == getpgrp() && getsid(own) == getsid(0));
    CHECK(sched_getaffinity(own, sizeof set, &set) == 0);
    CHECK(sched_setaffinity(own, sizeof set, &set) == 0);
    CHECK(sched_getscheduler(own) == SCHED_OTHER);
    CHECK(getpriority(PRIO_PROCESS, (id_t)own) == getpriority(PRIO_PROCESS, 0));
    CHECK(prlimit(own, RLIMIT_NOFILE, NULL, &limit) == 0);
    CHECK(process_vm_readv(own, &to, 1, &from, 1, 0) == sizeof copy);
    CHECK(copy == value);
}

/* Files below /proc/PID are about this process. */
static void read_about_itself(pid_t own)
{
    char path[64], target[4096], itself[4096];
    ssize_t length;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/exe", (int)own);
    length = readlink(path, target, sizeof target);
    CHECK(length > 0 && readlink("/proc/self/exe", itself, sizeof itself) ==
                            length);
    CHECK(memcmp(target, itself, (size_t)length) == 0);
    snprintf(path, sizeof path, "/proc/%d/status", (int)own);
    CHECK(access(path, R_OK) == 0);
    file = fopen(path, "r");
    CHECK(file != NULL && fscanf(file, "Name: %63s", target) == 1);
    fclose(file);
    CHECK(strcmp(target, program_invocation_short_name) == 0);
}

/* A child has another id, and knows its parent's. */
static void have_a_child(pid_t own)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        _exit(getppid() == own && getpid() != own && gettid() == getpid() ? 5
                                                                          : 6);
    }
    CHECK(child > 0 && child != own && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO};
    pid_t own;

    sigemptyset(&waited_for);
    sigaddset(&waited_for, SIGUSR2);
    CHECK(sigprocmask(SIG_BLOCK, &waited_for, NULL) == 0); /* in all threads */
    probe_begin(argc, argv, 2);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    own = getpid();
    CHECK(gettid() == own);
    probe_gate();
    CHECK(getpid() == own && gettid() == own);
    signal_itself(own);
    wait_for_own_signal(own);
    ask_about_itself(own);
    read_about_itself(own);
    have_a_child(own);
    return probe_end();
}
