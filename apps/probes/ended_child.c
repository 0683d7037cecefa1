/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ended_child.c - a process that the program has started, that has ended, and
 * that has not been waited for: nobody could after a restart.
 */
#include "probe.h"

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
