/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_semaphores.c - a semaphore set of two ranks; meanwhile one of them
 * waits in semop().
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <sys/ipc.h>
#include <sys/sem.h>

#define VALUE 7

static void change(int set, unsigned short number, short by)
{
    struct sembuf operation = {number, by, 0};

    CHECK(semop(set, &operation, 1) == 0);
}

int main(int argc, char **argv)
{
    int set = -1;

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        set = semget(IPC_PRIVATE, 3, 0600);
        CHECK(set >= 0 && semctl(set, 1, SETVAL, VALUE) == 0);
    }
    MPI_Bcast(&set, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (probe_rank == 0) {
        probe_gate();
        change(set, 0, 1);
    } else {
        change(set, 0, -1);
    }
    change(set, 1, -2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(semctl(set, 0, GETVAL) == 0);
    CHECK(semctl(set, 1, GETVAL) == VALUE - 4);
    CHECK(semctl(set, 2, GETVAL) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 0) {
        CHECK(semctl(set, 0, IPC_RMID) == 0);
    }
    return probe_end();
}
