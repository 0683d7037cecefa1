/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * groups.c - groups and communicators made from them.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    const int odd[2] = {3, 1};
    MPI_Group world, pair, rest, both;
    MPI_Comm comm, alone;
    int rank, size, result, ranks[2] = {0, 1}, translated[2], sum = 0;

    probe_begin(argc, argv, 4);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, odd, &pair);
    MPI_Group_difference(world, pair, &rest);
    MPI_Comm_create(MPI_COMM_WORLD, pair, &comm);
    probe_gate();
    MPI_Group_size(rest, &size);
    CHECK(size == 2);
    MPI_Group_translate_ranks(pair, 2, ranks, world, translated);
    CHECK(translated[0] == 3 && translated[1] == 1);
    MPI_Group_union(pair, rest, &both);
    MPI_Group_compare(both, world, &result);
    CHECK(result == MPI_SIMILAR);
    CHECK((comm != MPI_COMM_NULL) == (probe_rank % 2 == 1));
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_rank(comm, &rank);
        CHECK(rank == (probe_rank == 3 ? 0 : 1));
        MPI_Allreduce(&probe_rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == 4);
        MPI_Comm_free(&comm);
    } else {
        MPI_Comm_create_group(MPI_COMM_WORLD, rest, 5, &alone);
        MPI_Allreduce(&probe_rank, &sum, 1, MPI_INT, MPI_SUM, alone);
        CHECK(sum == 2);
        MPI_Comm_free(&alone);
    }
    MPI_Group_free(&both);
    MPI_Group_free(&rest);
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
    return probe_end();
}
