/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wtime.c - MPI_Wtime never goes back and does not count the outage.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    double before, after, tick;

    probe_begin(argc, argv, 2);
    before = MPI_Wtime();
    probe_gate();
    after = MPI_Wtime();
    tick = MPI_Wtick();
    CHECK(after >= before);
    CHECK(after - before < 600);
    CHECK(tick > 0 && tick < 1);
    for (int i = 0; i < 1000; i++) {
        before = after;
        after = MPI_Wtime();
        CHECK(after >= before);
    }
    return probe_end();
}
