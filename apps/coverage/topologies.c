/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topologies.c - Cartesian, graph and distributed graph topologies.
 */
#include "coverage.h"

static const int dims[2] = {2, 1}, periods[2] = {1, 0};
static const int ends[RANKS] = {1, 2}, edges[RANKS] = {1, 0};
static MPI_Comm cart, line, graph, given, found;

static void begin(void)
{
    const int keep[2] = {1, 0}, one = 1, weight = 3;
    const int peer = OTHER;

    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_sub(cart, keep, &line);
    MPI_Graph_create(MPI_COMM_WORLD, RANKS, ends, edges, 0, &graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, &weight, 1, &peer,
                                   &weight, MPI_INFO_NULL, 0, &given);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &this_rank, &one, &peer,
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &found);
}

static void check_cart(void)
{
    int sizes[2] = {0, 0}, wraps[2] = {-1, -1}, here[2] = {-1, -1};
    int count = -1, rank = -1, before = -1, after = -1;

    MPI_Cartdim_get(cart, &count);
    CHECK(count == 2);
    MPI_Cart_get(cart, 2, sizes, wraps, here);
    CHECK(sizes[0] == 2 && wraps[0] == 1 && wraps[1] == 0);
    MPI_Cart_coords(cart, this_rank, 2, here);
    CHECK(here[0] == this_rank && here[1] == 0);
    MPI_Cart_rank(cart, here, &rank);
    CHECK(rank == this_rank);
    MPI_Cart_shift(line, 0, 1, &before, &after);
    CHECK(before == OTHER && after == OTHER);
    MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank);
    CHECK(rank == MPI_UNDEFINED || (rank >= 0 && rank < RANKS));
    sizes[0] = sizes[1] = 0;
    MPI_Dims_create(6, 2, sizes);
    CHECK(sizes[0] == 3 && sizes[1] == 2);
    MPI_Topo_test(line, &count);
    CHECK(count == MPI_CART);
}

static void check_graph(void)
{
    int nodes = -1, count = -1, rank = -1, index[RANKS], list[RANKS];

    MPI_Graphdims_get(graph, &nodes, &count);
    CHECK(nodes == RANKS && count == RANKS);
    MPI_Graph_get(graph, RANKS, RANKS, index, list);
    CHECK(memcmp(index, ends, sizeof ends) == 0);
    CHECK(memcmp(list, edges, sizeof edges) == 0);
    MPI_Graph_neighbors_count(graph, this_rank, &count);
    MPI_Graph_neighbors(graph, this_rank, 1, list);
    CHECK(count == 1 && list[0] == OTHER);
    MPI_Graph_map(MPI_COMM_WORLD, RANKS, ends, edges, &rank);
    CHECK(rank == MPI_UNDEFINED || (rank >= 0 && rank < RANKS));
}

static void check_distributed(MPI_Comm comm, int expected_weight)
{
    int in = -1, out = -1, weighted = -1;
    int sources[1], destinations[1], in_weight[1], out_weight[1];

    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted == (expected_weight != 0));
    MPI_Dist_graph_neighbors(comm, 1, sources,
                             weighted ? in_weight : MPI_UNWEIGHTED, 1,
                             destinations,
                             weighted ? out_weight : MPI_UNWEIGHTED);
    CHECK(sources[0] == OTHER && destinations[0] == OTHER);
    if (weighted) {
        CHECK(in_weight[0] == expected_weight);
        CHECK(out_weight[0] == expected_weight);
    }
}

static void end(void)
{
    MPI_Comm *all[] = {&line, &cart, &graph, &given, &found};

    check_cart();
    check_graph();
    check_distributed(given, 3);
    check_distributed(found, 0);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        MPI_Comm_free(all[i]);
    }
}

const struct section topologies_section = {"topologies", begin, end};
