/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cartesian.c - a Cartesian communicator, its topology and neighbours.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    const int dims[2] = {2, 2}, periods[2] = {1, 0}, keep[2] = {0, 1};
    MPI_Comm grid, row;
    int seen_dims[2], seen_periods[2], place[2];
    int up, down, left, right, type, dimensions, rank, from = -1;

    probe_begin(argc, argv, 4);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, keep, &row);
    probe_gate();
    MPI_Topo_test(grid, &type);
    CHECK(type == MPI_CART);
    MPI_Cartdim_get(grid, &dimensions);
    CHECK(dimensions == 2);
    MPI_Cart_get(grid, 2, seen_dims, seen_periods, place);
    CHECK(memcmp(dims, seen_dims, sizeof dims) == 0);
    CHECK(memcmp(periods, seen_periods, sizeof periods) == 0);
    CHECK(place[0] == probe_rank / 2 && place[1] == probe_rank % 2);
    MPI_Cart_rank(grid, place, &rank);
    CHECK(rank == probe_rank);
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    CHECK(up == (probe_rank + 2) % 4 && down == up);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    CHECK(left == (place[1] == 0 ? MPI_PROC_NULL : probe_rank - 1));
    CHECK(right == (place[1] == 1 ? MPI_PROC_NULL : probe_rank + 1));
    MPI_Sendrecv(&probe_rank, 1, MPI_INT, down, 1, &from, 1, MPI_INT, up, 1,
                 grid, MPI_STATUS_IGNORE);
    CHECK(from == up);
    MPI_Topo_test(row, &type);
    CHECK(type == MPI_CART);
    MPI_Comm_rank(row, &rank);
    CHECK(rank == place[1]);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    return probe_end();
}
