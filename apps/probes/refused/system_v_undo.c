/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_undo.c - a semaphore operation with SEM_UNDO, which the process's
 * end undoes: the checkpoint is refused.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <sys/ipc.h>
#include <sys/sem.h>

int main(int argc, char **argv)
{
    struct sembuf take = {0, -1, SEM_UNDO}, give = {0, 1, SEM_UNDO};
    int set;

    probe_begin(argc, argv, 1);
    set = semget(IPC_PRIVATE, 1, 0600);
    CHECK(set >= 0 && semctl(set, 0, SETVAL, 1) == 0);
    CHECK(semop(set, &take, 1) == 0);
    probe_gate();
    CHECK(semop(set, &give, 1) == 0 && semctl(set, 0, GETVAL) == 1);
    CHECK(semctl(set, 0, IPC_RMID) == 0);
    return probe_end();
}
