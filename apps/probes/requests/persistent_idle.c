/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persistent_idle.c - persistent requests that are inactive at the checkpoint.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Request requests[2];
    int out, in = -1, other, done;

    probe_begin(argc, argv, 2);
    other = 1 - probe_rank;
    MPI_Ssend_init(&out, 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[1]);
    probe_gate();
    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    CHECK(done); /* inactive requests count as complete */
    for (int round = 0; round < 3; round++) {
        out = round + 5 * probe_rank;
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(in == round + 5 * other);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return probe_end();
}
