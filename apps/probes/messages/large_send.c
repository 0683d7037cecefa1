/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * large_send.c - a rank blocked in the send of a large message.
 */
#include "probes/probe.h"

#define BYTES (8 << 20)

int main(int argc, char **argv)
{
    unsigned char *data = malloc(BYTES);

    probe_begin(argc, argv, 2);
    CHECK(data != NULL);
    if (probe_rank == 1) {
        fill(data, BYTES, 12);
        MPI_Send(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        /* A checkpoint lets the send complete; this rank stays until the
         * message is received. */
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        probe_gate();
        MPI_Recv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(is_filled(data, BYTES, 12));
        MPI_Send(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
    }
    free(data);
    return probe_end();
}
