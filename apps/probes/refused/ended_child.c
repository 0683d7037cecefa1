/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ended_child.c - a child process that has ended and that the program has not
 * waited for: after a restart, a wait would be impossible.
 */
#include "probes/probe.h"

#include <signal.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    pid_t child;

    probe_begin(argc, argv, 2);
    child = fork();
    if (child == 0) {
        _exit(0);
    }
    CHECK(child > 0);
    CHECK(waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT) == 0);
    probe_gate();
    CHECK(waitpid(child, NULL, 0) == child);
    return probe_end();
}
