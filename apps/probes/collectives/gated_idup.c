/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gated_idup.c - ranks that are at the gate before MPI_Comm_idup at a checkpoint: the new
 * communicator is known, but not yet made. One of the ranks is nearly always inside the collective
 * before, which it cannot enter again, so both have to leave that collective first.
 */
#include "probes/probe.h"

#define NAP_US 20000

static int sum_of_ranks(MPI_Comm comm)
{
    int sum = probe_rank;

    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
    return sum;
}

static void duplicate_and_use(MPI_Comm comm)
{
    MPI_Comm twin;
    MPI_Request request;

    MPI_Comm_idup(comm, &twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum_of_ranks(twin) == 1);
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv)
{
    int open = 0;
    long tick = 0;

    probe_begin(argc, argv, 2);
    probe_show(tick);
    while (!open) {
        if (probe_rank == 0) {
            usleep(NAP_US);
            open = access(probe_gate_file, F_OK) == 0;
        }
        MPI_Allreduce(MPI_IN_PLACE, &open, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        duplicate_and_use(MPI_COMM_WORLD);
        probe_show(++tick);
    }
    return probe_end();
}
