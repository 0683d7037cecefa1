/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_then_collective.c - a synchronous send, its receive, and then a collective. In a
 * checkpoint in which no rank stands still, the receiver must notify the sender before it is inside
 * the collective. The sender enters when the send is complete.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    uint64_t step = 0, got = 0;

    probe_begin(argc, argv, 2);
    for (; probe_gate_step(); step++) {
        if (probe_rank == 1) {
            MPI_Request request;

            MPI_Issend(&step, 1, MPI_UINT64_T, 0, 3, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&got, 1, MPI_UINT64_T, 1, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            CHECK(got == step);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return probe_end();
}
