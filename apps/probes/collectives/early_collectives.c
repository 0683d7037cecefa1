/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_collectives.c - nonblocking collectives that one rank has begun, and
 * completed where the library allows it, before the other rank begins them. The
 * first rank has reused its buffers by then.
 */
#include "collective_op.h"
#include "probes/probe.h"

#define COUNT 5
#define OPS   (4 * PLAIN_COLLECTIVES)
#define TRIES 1000 /* enough for messages that need no wait */

static struct collective_op op[OPS];

static void begin(void)
{
    for (int i = 0; i < OPS; i++) {
        collective_begin(&op[i], i % PLAIN_COLLECTIVES, MPI_COMM_WORLD, i % 2,
                         i < OPS / 2 ? COUNT : 0, i / PLAIN_COLLECTIVES % 2,
                         (uint64_t)i);
    }
}

static int end_some(void)
{
    int ended = 0;

    for (int i = 0; i < OPS; i++) {
        int done = 0;

        for (int tries = 0; tries < TRIES && !done; tries++) {
            MPI_Test(&op[i].request, &done, MPI_STATUS_IGNORE);
        }
        if (done) {
            collective_end(&op[i]);
            op[i].what = ALL_COLLECTIVES;
            ended++;
        }
    }
    return ended;
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        begin();
        CHECK(end_some() > 0);
    }
    probe_gate();
    if (probe_rank == 1) {
        begin();
    }
    for (int i = 0; i < OPS; i++) {
        if (op[i].what != ALL_COLLECTIVES) {
            MPI_Wait(&op[i].request, MPI_STATUS_IGNORE);
            collective_end(&op[i]);
        }
    }
    return probe_end();
}
