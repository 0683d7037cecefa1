/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drained_probe.c - a message in flight is seen by MPI_Probe and MPI_Iprobe.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    double numbers[7] = {1, 2, 3, 4, 5, 6, 7};

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        MPI_Send(numbers, 7, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
        MPI_Send(numbers, 2, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD);
    }
    probe_gate_together();
    if (probe_rank == 0) {
        double received[7] = {0};
        MPI_Status status;
        int count, found = 0;

        MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(status.MPI_SOURCE == 1 && count == 2);
        while (!found) {
            MPI_Iprobe(1, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
        }
        CHECK(status.MPI_TAG == 3); /* the first of its source */
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == 7);
        MPI_Recv(received, 7, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, &status);
        CHECK(memcmp(received, numbers, sizeof numbers) == 0);
        MPI_Recv(received, 7, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        CHECK(count == 2);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found,
                   MPI_STATUS_IGNORE);
        CHECK(!found);
    }
    return probe_end();
}
