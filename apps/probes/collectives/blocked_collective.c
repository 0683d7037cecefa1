/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocked_collective.c - a rank blocked in a collective that others have not
 * entered.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    int mine, sum;

    probe_begin(argc, argv, 2);
    mine = 10 + probe_rank;
    if (probe_rank == 0) {
        probe_gate();
    }
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 21);
    MPI_Barrier(MPI_COMM_WORLD);
    return probe_end();
}
