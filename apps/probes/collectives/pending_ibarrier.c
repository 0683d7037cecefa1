/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending_ibarrier.c - an MPI_Ibarrier that the other rank has not called.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Request request;
    int done = 0;

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    probe_gate();
    if (probe_rank == 0) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(!done);
        MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return probe_end();
}
