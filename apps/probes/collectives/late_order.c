/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_order.c - one rank has begun several nonblocking collectives, has
 * completed some, and is inside a blocking one; the other rank begins them
 * later.
 */
#include "collective_op.h"
#include "probes/probe.h"

#define OPS   7
#define TRIES 1000

static const enum collective what[OPS] = {BARRIER, REDUCE, BCAST, ALLREDUCE,
                                          GATHER, ALLGATHER, SCAN};
static struct collective_op op[OPS];
static MPI_Comm twin;

/* Begins the first collectives, a blocking one in between, and all others. */
static void begin(int first, int last)
{
    for (int i = first; i <= last; i++) {
        MPI_Comm comm = i % 2 == 0 ? MPI_COMM_WORLD : twin;

        collective_begin(&op[i], what[i], comm, i % 4 < 2 ? 0 : 1, 3, i > 3,
                         (uint64_t)i);
    }
}

static void end(int i)
{
    MPI_Wait(&op[i].request, MPI_STATUS_IGNORE);
    collective_end(&op[i]);
}

int main(int argc, char **argv)
{
    int done = 0;

    probe_begin(argc, argv, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    if (probe_rank == 0) {
        probe_gate();
    }
    begin(0, 4);
    for (int i = 0; i < TRIES && !done && probe_rank == 1; i++) {
        /* This rank is not its root. */
        MPI_Test(&op[1].request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin(5, 6);
    for (int i = OPS - 1; i >= 0; i--) {
        end(i);
    }
    MPI_Comm_free(&twin);
    return probe_end();
}
