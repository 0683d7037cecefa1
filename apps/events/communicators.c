/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.c - see communicators.h. */
#include "communicators.h"

MPI_Comm comms[COMMUNICATORS];

void make_communicators(void)
{
    MPI_Comm half;
    int odd = world_rank % 2;

    comms[WORLD] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[TWIN]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[REVERSED]);
    MPI_Comm_split(MPI_COMM_WORLD, odd, world_rank, &half);
    comms[EVEN] = odd ? MPI_COMM_NULL : half;
    comms[ODD] = odd ? half : MPI_COMM_NULL;
    MPI_Comm_dup(comms[REVERSED], &comms[WILD]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[POOL]);
    MPI_Comm_dup(comms[TWIN], &comms[PROBED]);
}

void free_communicators(void)
{
    for (int i = TWIN; i < COMMUNICATORS; i++) {
        if (comms[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&comms[i]);
        }
    }
}

int is_member(enum communicator comm, int rank)
{
    return (comm != EVEN || rank % 2 == 0) && (comm != ODD || rank % 2 == 1);
}

int rank_within(enum communicator comm, int rank)
{
    if (rank == MPI_ANY_SOURCE) {
        return rank;
    }
    switch (comm) {
    case REVERSED:
    case WILD:
        return world_size - 1 - rank;
    case EVEN:
    case ODD:
        return rank / 2;
    default:
        return rank;
    }
}

int rank_in_world(enum communicator comm, int rank)
{
    switch (comm) {
    case EVEN:
        return 2 * rank;
    case ODD:
        return 2 * rank + 1;
    default:
        return rank_within(comm, rank);
    }
}
