/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dist_graphs.c - makes graphs from edges that other ranks name, on communicators with every number
 * of earlier nonblocking collectives. Open MPI sends edges with two tags that about the 24th of
 * those collectives also uses, and receives them from any source.
 */
#include "selfcheck.h"

#include <stdlib.h>

enum {
    COLLECTIVES = 28,
    GRAPHS = 3
};

static void begin_and_end_barrier(MPI_Comm comm)
{
    MPI_Request request;

    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Each rank names its edges to all ranks. */
static void make_graph(MPI_Comm comm, int rank, int size, int *ranks, int *weights)
{
    MPI_Comm graph;
    int in, out, weighted;

    for (int i = 0; i < size; i++) {
        ranks[i] = i;
        weights[i] = 1 + rank;
    }
    MPI_Dist_graph_create(comm, 1, &rank, &size, ranks, weights, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    CHECK(in == size && out == size && weighted);
    MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
    int rank, size, *ranks, *weights;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    ranks = malloc((size_t)size * sizeof(int));
    weights = malloc((size_t)size * sizeof(int));
    CHECK(ranks != NULL && weights != NULL);
    for (int count = 0; count < COLLECTIVES; count++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < count; i++) {
            begin_and_end_barrier(comm);
        }
        for (int i = 0; i < GRAPHS; i++) {
            make_graph(comm, rank, size, ranks, weights);
        }
        MPI_Comm_free(&comm);
    }
    free(ranks);
    free(weights);
    MPI_Finalize();
    if (rank == 0) {
        puts("OK");
    }
    return 0;
}
