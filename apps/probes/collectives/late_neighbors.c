/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_neighbors.c - nonblocking neighbourhood collectives in each kind of topology, begun by one
 * rank before the checkpoint and by the other after it.
 */
#include "collective_op.h"
#include "probes/probe.h"

#define COUNT 5
#define KINDS (ALL_COLLECTIVES - PLAIN_COLLECTIVES)
#define OPS   (3 * KINDS)

static struct collective_op op[OPS];
static MPI_Comm topology[3];

static void make(void)
{
    const int dims[] = {2}, periods[] = {0}, index[] = {1, 2}, edges[] = {1, 0};
    const int other = 1 - probe_rank, weight = 1;

    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &topology[0]);
    MPI_Graph_create(MPI_COMM_WORLD, 2, index, edges, 0, &topology[1]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &other, &weight, 1, &other,
                                   &weight, MPI_INFO_NULL, 0, &topology[2]);
}

static void begin(void)
{
    for (int i = 0; i < OPS; i++) {
        collective_begin(&op[i], PLAIN_COLLECTIVES + i % KINDS,
                         topology[i / KINDS], 0, COUNT, 0, (uint64_t)i);
    }
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    make();
    if (probe_rank == 0) {
        begin();
    }
    probe_gate();
    if (probe_rank == 1) {
        begin();
    }
    for (int i = 0; i < OPS; i++) {
        MPI_Wait(&op[i].request, MPI_STATUS_IGNORE);
        collective_end(&op[i]);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Comm_free(&topology[i]);
    }
    return probe_end();
}
