/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_inter.c - nonblocking collectives between the two groups of an intercommunicator, begun by
 * one group before the checkpoint and by the other after it. Each group has one member, so each
 * result is the other group's data.
 */
#include "probes/probe.h"

#define OPS 16

static int sent[OPS], received[OPS];
static MPI_Request requests[OPS];
static const int one = 1, zero = 0;
static MPI_Datatype type = MPI_INT;

/* Collectives with a root, which is in the group of rank 0. */
static void begin_rooted(MPI_Comm inter)
{
    const int root = probe_rank == 0 ? MPI_ROOT : 0;

    MPI_Ibcast(probe_rank == 0 ? &sent[0] : &received[0], 1, MPI_INT, root, inter,
               &requests[0]);
    MPI_Igather(&sent[1], 1, MPI_INT, &received[1], 1, MPI_INT, root, inter,
                &requests[1]);
    MPI_Igatherv(&sent[2], 1, MPI_INT, &received[2], &one, &zero, MPI_INT, root,
                 inter, &requests[2]);
    MPI_Iscatter(&sent[3], 1, MPI_INT, &received[3], 1, MPI_INT, root, inter,
                 &requests[3]);
    MPI_Iscatterv(&sent[4], &one, &zero, MPI_INT, &received[4], 1, MPI_INT, root,
                  inter, &requests[4]);
    MPI_Ireduce(&sent[5], &received[5], 1, MPI_INT, MPI_SUM, root, inter,
                &requests[5]);
    MPI_Ibarrier(inter, &requests[15]);
}

static void begin_symmetric(MPI_Comm inter)
{
    MPI_Iallgather(&sent[6], 1, MPI_INT, &received[6], 1, MPI_INT, inter,
                   &requests[6]);
    MPI_Iallgatherv(&sent[7], 1, MPI_INT, &received[7], &one, &zero, MPI_INT,
                    inter, &requests[7]);
    MPI_Ialltoall(&sent[8], 1, MPI_INT, &received[8], 1, MPI_INT, inter,
                  &requests[8]);
    MPI_Ialltoallv(&sent[9], &one, &zero, MPI_INT, &received[9], &one, &zero,
                   MPI_INT, inter, &requests[9]);
    MPI_Ialltoallw(&sent[10], &one, &zero, &type, &received[10], &one, &zero,
                   &type, inter, &requests[10]);
    MPI_Iallreduce(&sent[11], &received[11], 1, MPI_INT, MPI_SUM, inter,
                   &requests[11]);
    MPI_Ireduce_scatter(&sent[12], &received[12], &one, MPI_INT, MPI_SUM, inter,
                        &requests[12]);
    MPI_Ireduce_scatter_block(&sent[13], &received[13], 1, MPI_INT, MPI_SUM,
                              inter, &requests[13]);
}

static void check(void)
{
    for (int i = 0; i < 14; i++) {
        const int to_root = i == 1 || i == 2 || i == 5;
        const int from_root = i == 0 || i == 3 || i == 4;

        if ((probe_rank == 0 && from_root) || (probe_rank == 1 && to_root)) {
            CHECK(received[i] == 0);
        } else {
            CHECK(received[i] == 1000 * (1 - probe_rank) + i + 1);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm inter;

    probe_begin(argc, argv, 2);
    MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - probe_rank, 1,
                         &inter);
    requests[14] = MPI_REQUEST_NULL;
    for (int i = 0; i < OPS; i++) {
        sent[i] = 1000 * probe_rank + i + 1;
    }
    if (probe_rank == 0) {
        begin_rooted(inter);
        begin_symmetric(inter);
    }
    probe_gate();
    if (probe_rank == 1) {
        begin_rooted(inter);
        begin_symmetric(inter);
    }
    MPI_Waitall(OPS, requests, MPI_STATUSES_IGNORE);
    check();
    MPI_Comm_free(&inter);
    return probe_end();
}
