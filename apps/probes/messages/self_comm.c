/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * self_comm.c - a message of a rank to itself, on MPI_COMM_SELF and on the
 * world.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    int out = 5, in[2] = {0};

    probe_begin(argc, argv, 2);
    MPI_Isend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, probe_rank, 1, MPI_COMM_WORLD, &requests[1]);
    probe_gate_together();
    MPI_Recv(&in[0], 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Recv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(in[0] == 5 && in[1] == 5);
    return probe_end();
}
