/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbours.c - neighbourhood collectives on a periodic ring.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    const int dims[1] = {4}, periods[1] = {1};
    MPI_Comm ring;
    MPI_Request request;
    int out[2], in[2], left, right;

    probe_begin(argc, argv, 4);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
    left = (probe_rank + 3) % 4;
    right = (probe_rank + 1) % 4;
    out[0] = 10 * probe_rank;     /* to the left */
    out[1] = 10 * probe_rank + 1; /* to the right */
    probe_gate();
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    CHECK(in[0] == 10 * left + 1 && in[1] == 10 * right);
    MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in[0] == 10 * left && in[1] == 10 * right);
    MPI_Comm_free(&ring);
    return probe_end();
}
