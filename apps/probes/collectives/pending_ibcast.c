/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending_ibcast.c - an MPI_Ibcast that the other rank has not called.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    int numbers[10] = {0};
    MPI_Request request;

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        for (int i = 0; i < 10; i++) {
            numbers[i] = i + 1;
        }
        MPI_Ibcast(numbers, 10, MPI_INT, 0, MPI_COMM_WORLD, &request);
    }
    probe_gate();
    if (probe_rank == 1) {
        MPI_Ibcast(numbers, 10, MPI_INT, 0, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 10; i++) {
        CHECK(numbers[i] == i + 1);
    }
    return probe_end();
}
