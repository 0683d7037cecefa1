/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * support.c - functions of the generated wrappers besides handles/wrapper.h.
 */
#include "wrap/support.h"

#include "base/invariant.h"
#include "runtime/crossing.h"

#include <stdio.h>
#include <unistd.h>

/* Neighbours in a graph: index[r] is where the edges of rank r end. */
static int graph_degree(const struct ckpt_topology *graph, int rank)
{
    const int *index = graph->data;

    CKPT_INVARIANT(rank >= 0 && rank < graph->counts[0]);
    return rank == 0 ? index[0] : index[rank] - index[rank - 1];
}

/* direction: 0 in, 1 out. */
static int degree(MPI_Comm comm, int direction)
{
    const struct ckpt_topology *topology = comm->topology;

    if (topology == NULL) {
        return 0;
    }
    switch (topology->kind) {
    case MPI_CART:
        return 2 * topology->counts[0];
    case MPI_GRAPH:
        return graph_degree(topology, comm->rank);
    default:
        CKPT_INVARIANT(topology->kind == MPI_DIST_GRAPH);
        return topology->counts[direction];
    }
}

int ckpt_in_degree(MPI_Comm comm)
{
    return degree(comm, 0);
}

int ckpt_out_degree(MPI_Comm comm)
{
    return degree(comm, 1);
}

void ckpt_unsupported(const char *function, const char *what)
{
    fprintf(stderr, "ckpt: %s was called: %s: not supported yet\n", function,
            what);
    _exit(1);
}
