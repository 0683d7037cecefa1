/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.c - sizes of groups and neighbourhoods, and ranks in groups.
 */
#include "adapt/topology.h"

#include "adapt/constants.h"
#include "adapt/handle.h"

#include <stdlib.h>

int adapt_peers(const void *comm)
{
    int inter = 0, size = 0;

    (void)PMPI_Comm_test_inter(adapt_in(comm), &inter);
    if (inter) {
        (void)PMPI_Comm_remote_size(adapt_in(comm), &size);
    } else {
        (void)PMPI_Comm_size(adapt_in(comm), &size);
    }
    return size;
}

/* direction: 0 in, 1 out. */
static int degree(MPI_Comm comm, int direction)
{
    int kind = MPI_UNDEFINED, rank = 0, count = 0, both[2] = {0, 0}, weighted;

    (void)PMPI_Topo_test(comm, &kind);
    switch (kind) {
    case MPI_CART:
        (void)PMPI_Cartdim_get(comm, &count);
        return 2 * count;
    case MPI_GRAPH:
        (void)PMPI_Comm_rank(comm, &rank);
        (void)PMPI_Graph_neighbors_count(comm, rank, &count);
        return count;
    case MPI_DIST_GRAPH:
        (void)PMPI_Dist_graph_neighbors_count(comm, &both[0], &both[1],
                                              &weighted);
        return both[direction];
    default:
        return 0;
    }
}

int adapt_in_degree(const void *comm)
{
    return degree(adapt_in(comm), 0);
}

int adapt_out_degree(const void *comm)
{
    return degree(adapt_in(comm), 1);
}

int adapt_spawned(const void *comm, int root, int count, const int maxprocs[])
{
    int rank = 0, sum = 0;

    (void)PMPI_Comm_rank(adapt_in(comm), &rank);
    for (int i = 0; rank == root && i < count; i++) {
        sum += maxprocs[i];
    }
    return sum;
}

/* The ranks may include MPI_PROC_NULL, which translates to itself. */
int adapt_Group_translate_ranks(void *group1, int n, const int ranks1[],
                                void *group2, int ranks2[])
{
    int *mpich = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof(*mpich));
    int code;

    if (mpich == NULL) {
        return adapt_code(MPI_ERR_NO_MEM);
    }
    for (int i = 0; i < n; i++) {
        mpich[i] = adapt_rank_in(ranks1[i]);
    }
    code = PMPI_Group_translate_ranks(adapt_in(group1), n, mpich,
                                      adapt_in(group2), ranks2);
    free(mpich);
    for (int i = 0; code == MPI_SUCCESS && i < n; i++) {
        ranks2[i] = adapt_rank_out(ranks2[i]);
    }
    return adapt_code(code);
}
