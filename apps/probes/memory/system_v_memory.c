/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_memory.c - System V shared memory of two ranks: with a key, and
 * without one and removed as soon as both have attached it.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <sys/ipc.h>
#include <sys/shm.h>

#define PAGE 4096ul

static int *attach(int id, int flags)
{
    void *memory = shmat(id, NULL, flags);

    CHECK(memory != (void *)-1);
    return memory;
}

static unsigned long attached(int id)
{
    struct shmid_ds status;

    CHECK(shmctl(id, IPC_STAT, &status) == 0);
    return status.shm_nattch;
}

int main(int argc, char **argv)
{
    int key = 0x0c4d0000 | (int)(getpid() & 0xffff);
    int keyed, removed = -1;
    const int *view;
    int *memory, *second;

    probe_begin(argc, argv, 2);
    MPI_Bcast(&key, 1, MPI_INT, 0, MPI_COMM_WORLD);
    keyed = shmget(key, 2 * PAGE + 100, IPC_CREAT | 0600);
    CHECK(keyed >= 0);
    memory = attach(keyed, 0);
    view = attach(keyed, SHM_RDONLY);
    if (probe_rank == 0) {
        removed = shmget(IPC_PRIVATE, PAGE, 0600);
    }
    MPI_Bcast(&removed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    second = attach(removed, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(probe_rank != 0 || shmctl(removed, IPC_RMID, NULL) == 0);
    memory[probe_rank] = 10 + probe_rank;
    memory[2 * PAGE / sizeof(int) + probe_rank] = 20 + probe_rank;
    second[probe_rank] = 30 + probe_rank;
    probe_gate_together();
    for (int i = 0; i < 2; i++) {
        CHECK(view[i] == 10 + i && view[2 * PAGE / sizeof(int) + i] == 20 + i);
        CHECK(second[i] == 30 + i);
    }
    CHECK(attached(keyed) == 4 && attached(removed) == 2);
    CHECK(shmget(key, 0, 0) == keyed);
    MPI_Barrier(MPI_COMM_WORLD);
    memory[probe_rank] = second[probe_rank] = 40 + probe_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(view[1 - probe_rank] == 41 - probe_rank);
    CHECK(second[1 - probe_rank] == 41 - probe_rank);
    CHECK(shmdt(memory) == 0 && shmdt(view) == 0 && shmdt(second) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 0) {
        CHECK(attached(keyed) == 0 && shmctl(keyed, IPC_RMID, NULL) == 0);
        CHECK(shmat(removed, NULL, 0) == (void *)-1);
    }
    return probe_end();
}
