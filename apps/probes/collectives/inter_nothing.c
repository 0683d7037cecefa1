/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inter_nothing.c - collectives of an intercommunicator with threads, in which members that take no
 * part, or all members, pass a count of 0.
 */
#include "probes/probe.h"

#define ROUNDS 6

/* Returns the root argument that member `mine` of the root's group passes. */
static int root_here(int mine, int root)
{
    return mine == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void exchange(MPI_Comm inter, int root, int count)
{
    const int counted = root == MPI_PROC_NULL ? 0 : count;
    int value = root == MPI_ROOT ? 41 : 0, sum = 0, members;

    MPI_Comm_remote_size(inter, &members);
    MPI_Bcast(&value, counted, MPI_INT, root, inter);
    CHECK(root < 0 || value == (count == 0 ? 0 : 41));
    value = 5;
    MPI_Reduce(&value, &sum, counted, MPI_INT, MPI_SUM, root, inter);
    CHECK(sum == (root == MPI_ROOT && count != 0 ? 5 * members : 0));
}

static void exchange_all(MPI_Comm inter)
{
    int mine, size, remote;

    MPI_Comm_rank(inter, &mine);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    for (int round = 0; round < ROUNDS; round++) {
        for (int group = 0; group < 2; group++) {
            const int here = group == probe_rank % 2;

            for (int root = 0; root < (here ? size : remote); root++) {
                exchange(inter, here ? root_here(mine, root) : root, round % 2);
            }
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm group, inter;
    int provided;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    probe_begin_initialized(argc, argv, 4);
    MPI_Comm_split(MPI_COMM_WORLD, probe_rank % 2, 0, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 1 - probe_rank % 2, 1, &inter);
    exchange_all(inter);
    probe_gate();
    exchange_all(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
    return probe_end();
}
