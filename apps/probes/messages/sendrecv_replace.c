/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sendrecv_replace.c - MPI_Sendrecv_replace that waits for its partner.
 */
#include "probes/probe.h"

#define COUNT 50000

int main(int argc, char **argv)
{
    static int numbers[COUNT];
    MPI_Status status;

    probe_begin(argc, argv, 2);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] = i + probe_rank;
    }
    if (probe_rank == 0) {
        probe_gate();
    }
    MPI_Sendrecv_replace(numbers, COUNT, MPI_INT, 1 - probe_rank, 4,
                         1 - probe_rank, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == 1 - probe_rank && status.MPI_TAG == 4);
    for (int i = 0; i < COUNT; i++) {
        CHECK(numbers[i] == i + 1 - probe_rank);
    }
    return probe_end();
}
