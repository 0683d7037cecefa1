/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * graph.c - graph topologies, plain and distributed, and their neighbours.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    const int index[4] = {1, 2, 3, 4}, edges[4] = {1, 0, 3, 2};
    MPI_Comm graph, distributed;
    int type, nodes, count, neighbour, in, out, weighted, source, next, all[4];
    int source_weight, weight;

    probe_begin(argc, argv, 4);
    MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
    next = (probe_rank + 1) % 4;
    source = (probe_rank + 3) % 4;
    weight = 7;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, &weight, 1,
                                   &next, &weight, MPI_INFO_NULL, 0,
                                   &distributed);
    probe_gate();
    MPI_Topo_test(graph, &type);
    CHECK(type == MPI_GRAPH);
    MPI_Graphdims_get(graph, &nodes, &count);
    CHECK(nodes == 4 && count == 4);
    MPI_Graph_neighbors(graph, probe_rank, 1, &neighbour);
    CHECK(neighbour == edges[probe_rank]);
    MPI_Topo_test(distributed, &type);
    CHECK(type == MPI_DIST_GRAPH);
    MPI_Dist_graph_neighbors_count(distributed, &in, &out, &weighted);
    CHECK(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(distributed, 1, &in, &source_weight, 1, &out,
                             &weight);
    CHECK(in == source && out == next && source_weight == 7 && weight == 7);
    MPI_Neighbor_allgather(&probe_rank, 1, MPI_INT, all, 1, MPI_INT,
                           distributed);
    CHECK(all[0] == source);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&distributed);
    return probe_end();
}
