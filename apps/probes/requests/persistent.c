/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persistent.c - persistent sends and receives, inactive and started.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    int out, in = -1;
    int other;

    probe_begin(argc, argv, 2);
    other = 1 - probe_rank;
    MPI_Send_init(&out, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 10; round++) {
        out = 10 * round + probe_rank;
        if (round == 5) {
            /* Rank 1 has started both requests, rank 0 only its receive. */
            MPI_Start(&requests[1]);
            if (probe_rank == 1) {
                MPI_Start(&requests[0]);
            }
            probe_gate_together();
            if (probe_rank == 0) {
                MPI_Start(&requests[0]);
            }
        } else {
            MPI_Startall(2, requests);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(requests[0] != MPI_REQUEST_NULL);
        CHECK(in == 10 * round + other);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return probe_end();
}
