/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matched_irecv.c - a posted receive whose message arrived before the
 * checkpoint.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    enum {
        COUNT = 1000
    };
    static int numbers[COUNT];
    MPI_Request request = MPI_REQUEST_NULL;

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        MPI_Irecv(numbers, COUNT, MPI_INT, 1, 1, MPI_COMM_WORLD, &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (probe_rank == 1) {
        for (int i = 0; i < COUNT; i++) {
            numbers[i] = 3 * i;
        }
        MPI_Send(numbers, COUNT, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
    if (probe_rank == 0) {
        MPI_Status status;
        int count;

        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(count == COUNT && status.MPI_SOURCE == 1);
        for (int i = 0; i < COUNT; i++) {
            CHECK(numbers[i] == 3 * i);
        }
    }
    return probe_end();
}
