/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * intercomm.c - an intercommunicator with a message in flight, merged after the
 * checkpoint.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Comm half, inter, merged;
    int colour, flag, remote, rank, number, sum, mine;

    probe_begin(argc, argv, 4);
    colour = probe_rank / 2;
    MPI_Comm_split(MPI_COMM_WORLD, colour, probe_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, colour == 0 ? 2 : 0, 1,
                         &inter);
    MPI_Comm_rank(half, &rank);
    if (colour == 1) {
        MPI_Send(&probe_rank, 1, MPI_INT, rank, 3, inter);
    }
    probe_gate_together();
    MPI_Comm_test_inter(inter, &flag);
    MPI_Comm_remote_size(inter, &remote);
    CHECK(flag && remote == 2);
    if (colour == 0) {
        MPI_Recv(&number, 1, MPI_INT, rank, 3, inter, MPI_STATUS_IGNORE);
        CHECK(number == probe_rank + 2);
    }
    mine = 1 << probe_rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == (colour == 0 ? 12 : 3));
    MPI_Intercomm_merge(inter, colour == 0, &merged);
    MPI_Comm_rank(merged, &rank);
    CHECK(rank == (probe_rank + 2) % 4);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return probe_end();
}
