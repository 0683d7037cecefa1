/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * living_child.c - a child process that still runs: it would be missing after a
 * restart.
 */
#include "probes/probe.h"

#include <signal.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    int status = 0;
    pid_t child;

    probe_begin(argc, argv, 2);
    child = fork();
    if (child == 0) {
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0);
    probe_gate();
    CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    return probe_end();
}
