/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.c - a synchronous send whose receive is posted only after
 * the checkpoint must not complete before (MPI 3.1, section 3.4).
 */
#include "probe.h"

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int number = 1;
    int done;

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        MPI_Issend(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
    if (probe_rank == 1) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        CHECK(!done);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 1) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(number == 1);
    }
    return probe_end();
}
