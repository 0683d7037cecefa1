/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partly_freed.c - communicators that some members have freed and others still
 * hold and use.
 */
#include "probes/probe.h"

static MPI_Comm twin, received_on, grid, ring, half, inter;

static void make(void)
{
    const int dims[] = {4}, periods[] = {1};
    const int weight = 1;
    int left = (probe_rank + 3) % 4, right = (probe_rank + 1) % 4;
    int colour = probe_rank / 2;

    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_dup(MPI_COMM_WORLD, &received_on);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &weight, 1, &right,
                                   &weight, MPI_INFO_NULL, 0, &ring);
    MPI_Comm_split(MPI_COMM_WORLD, colour, probe_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, colour == 0 ? 2 : 0, 1,
                         &inter);
}

static void free_all(void)
{
    MPI_Comm_free(&twin);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&ring);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
}

/* Ranks 1 to 3 still use the communicators that rank 0 has freed. */
static void use(void)
{
    int number = 0, source, destination, kind, size;

    if (probe_rank == 1) {
        MPI_Recv(&number, 1, MPI_INT, 3, 1, twin, MPI_STATUS_IGNORE);
        CHECK(number == 31); /* sent before the gate */
        MPI_Send(&probe_rank, 1, MPI_INT, 2, 1, twin);
        MPI_Send(&probe_rank, 1, MPI_INT, 1, 1, inter); /* to rank 3 */
    } else if (probe_rank == 2) {
        MPI_Recv(&number, 1, MPI_INT, 1, 1, twin, MPI_STATUS_IGNORE);
        CHECK(number == 1);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 1, 1, inter, MPI_STATUS_IGNORE);
        CHECK(number == 1);
    }
    MPI_Cart_shift(grid, 0, 1, &source, &destination);
    CHECK(source == probe_rank - 1 && destination == (probe_rank + 1) % 4);
    MPI_Topo_test(ring, &kind);
    CHECK(kind == MPI_DIST_GRAPH);
    MPI_Comm_size(half, &size);
    CHECK(size == 2);
}

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int number = 0, late = 31;

    probe_begin(argc, argv, 4);
    make();
    if (probe_rank == 3) {
        MPI_Send(&late, 1, MPI_INT, 1, 1, twin);
        MPI_Send(&late, 1, MPI_INT, 0, 2, received_on);
    }
    if (probe_rank == 0) {
        MPI_Irecv(&number, 1, MPI_INT, 3, 2, received_on, &request);
        free_all();
    }
    MPI_Comm_free(&received_on);
    probe_gate_together();
    if (probe_rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(number == 31);
    } else {
        use();
        free_all();
    }
    return probe_end();
}
