/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_lock.c - rank 0 holds the exclusive lock of rank 1's memory and has
 * made a put, while rank 1 waits for the same lock.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    int memory[2] = {-1, -1}, number, got;
    MPI_Win window;

    probe_begin(argc, argv, 2);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    if (probe_rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        CHECK(memory[0] == 60 && memory[1] == 61);
        memory[0] = 62;
        MPI_Win_unlock(1, window);
    } else {
        number = 60;
        MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        probe_gate();
        number = 61;
        MPI_Put(&number, 1, MPI_INT, 1, 1, 1, MPI_INT, window);
        MPI_Win_unlock(1, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Get(&got, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
    CHECK(got == 62);
    MPI_Win_free(&window);
    return probe_end();
}
