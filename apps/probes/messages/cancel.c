/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cancel.c - a receive posted before the checkpoint, cancelled after.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Request doomed, kept;
    MPI_Status status;
    int number = -1, other = -1, cancelled;

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        MPI_Irecv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &doomed);
        MPI_Irecv(&other, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &kept);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
    if (probe_rank == 0) {
        MPI_Cancel(&doomed);
        MPI_Wait(&doomed, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 1) {
        number = 17;
        MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    } else {
        MPI_Wait(&kept, &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(!cancelled && other == 17 && number == -1);
    }
    return probe_end();
}
