/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbors.c - neighbourhood collectives between each rank and the other one.
 * The nonblocking ones are pending at the gate.
 */
#include "coverage.h"

#define KINDS 5

static const int one = 1, zero = 0;
static const MPI_Aint nowhere = 0;
static const MPI_Datatype type = MPI_INT;
static MPI_Comm ring;
static int out, in[KINDS];
static MPI_Request requests[KINDS];

static void begin(void)
{
    const int peer = OTHER;

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1,
                                   &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    out = 60 + this_rank;
    memset(in, 0, sizeof in);
    MPI_Ineighbor_allgather(&out, 1, MPI_INT, &in[0], 1, MPI_INT, ring,
                            &requests[0]);
    MPI_Ineighbor_allgatherv(&out, 1, MPI_INT, &in[1], &one, &zero, MPI_INT,
                             ring, &requests[1]);
    MPI_Ineighbor_alltoall(&out, 1, MPI_INT, &in[2], 1, MPI_INT, ring,
                           &requests[2]);
    MPI_Ineighbor_alltoallv(&out, &one, &zero, MPI_INT, &in[3], &one, &zero,
                            MPI_INT, ring, &requests[3]);
    MPI_Ineighbor_alltoallw(&out, &one, &nowhere, &type, &in[4], &one, &nowhere,
                            &type, ring, &requests[4]);
}

static void check_in(void)
{
    for (int i = 0; i < KINDS; i++) {
        CHECK(in[i] == 60 + OTHER);
        in[i] = 0;
    }
}

static void end(void)
{
    MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
    check_in();
    MPI_Neighbor_allgather(&out, 1, MPI_INT, &in[0], 1, MPI_INT, ring);
    MPI_Neighbor_allgatherv(&out, 1, MPI_INT, &in[1], &one, &zero, MPI_INT,
                            ring);
    MPI_Neighbor_alltoall(&out, 1, MPI_INT, &in[2], 1, MPI_INT, ring);
    MPI_Neighbor_alltoallv(&out, &one, &zero, MPI_INT, &in[3], &one, &zero,
                           MPI_INT, ring);
    MPI_Neighbor_alltoallw(&out, &one, &nowhere, &type, &in[4], &one, &nowhere,
                           &type, ring);
    check_in();
    MPI_Comm_free(&ring);
}

const struct section neighbors_section = {"neighbors", begin, end};
