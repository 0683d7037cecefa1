/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * large_isend.c - a large nonblocking send whose receive is not posted yet.
 */
#include "probes/probe.h"

#define BYTES (8 << 20)

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    unsigned char *data = malloc(BYTES);

    probe_begin(argc, argv, 2);
    CHECK(data != NULL);
    if (probe_rank == 1) {
        fill(data, BYTES, 11);
        MPI_Isend(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    }
    probe_gate_together();
    if (probe_rank == 1) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        CHECK(is_filled(data, BYTES, 11));
    }
    free(data);
    return probe_end();
}
