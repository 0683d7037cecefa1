/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drained_any.c - a message in flight is received with both wildcards.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    char text[32] = "sent before the checkpoint";

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        MPI_Send(text, sizeof text, MPI_CHAR, 0, 42, MPI_COMM_WORLD);
        memset(text, 0, sizeof text);
    }
    probe_gate_together();
    if (probe_rank == 0) {
        char received[64] = "";
        MPI_Status status;
        int count;

        MPI_Recv(received, sizeof received, MPI_CHAR, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 42);
        CHECK(count == sizeof text);
        CHECK(strcmp(received, "sent before the checkpoint") == 0);
    }
    return probe_end();
}
