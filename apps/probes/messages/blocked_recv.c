/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocked_recv.c - a rank blocked in a receive with too large a buffer.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    char text[4096] = "";

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        MPI_Status status;
        int count;

        MPI_Recv(text, sizeof text, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(count == 6 && strcmp(text, "short") == 0);
        CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 77);
    } else {
        probe_gate();
        MPI_Send("short", 6, MPI_CHAR, 1, 77, MPI_COMM_WORLD);
    }
    return probe_end();
}
