/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_collectives.c - every nonblocking collective, out of place and in place,
 * begun by one rank before the checkpoint and by the other after it.
 */
#include "collective_op.h"
#include "probes/probe.h"

#define COUNT 5
#define OPS   (2 * PLAIN_COLLECTIVES)

static struct collective_op op[OPS];

static void begin(void)
{
    for (int i = 0; i < OPS; i++) {
        collective_begin(&op[i], i % PLAIN_COLLECTIVES, MPI_COMM_WORLD, i % 2,
                         COUNT, i >= PLAIN_COLLECTIVES, (uint64_t)i);
    }
}

int main(int argc, char **argv)
{
    MPI_Request requests[OPS];

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        begin();
    }
    probe_gate();
    if (probe_rank == 1) {
        begin();
    }
    for (int i = 0; i < OPS; i++) {
        requests[i] = op[i].request;
    }
    MPI_Waitall(OPS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < OPS; i++) {
        op[i].request = requests[i];
        collective_end(&op[i]);
    }
    return probe_end();
}
