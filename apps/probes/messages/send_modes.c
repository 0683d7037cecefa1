/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * send_modes.c - synchronous, buffered and ready sends around a checkpoint.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    static char attached[10000 + 2 * MPI_BSEND_OVERHEAD];
    MPI_Request request = MPI_REQUEST_NULL;
    int numbers[4] = {1, 2, 3, 4};
    int bytes;
    void *buffer;

    probe_begin(argc, argv, 2);
    MPI_Buffer_attach(attached, sizeof attached);
    if (probe_rank == 1) {
        MPI_Issend(&numbers[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Bsend(&numbers[1], 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&numbers[3], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    probe_gate();
    if (probe_rank == 1) {
        MPI_Rsend(&numbers[2], 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ssend(&numbers[3], 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
        MPI_Bsend(&numbers[0], 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    } else {
        const int tags[4] = {1, 2, 5, 6}, expected[4] = {1, 2, 4, 1};
        int number;

        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(numbers[3] == 3);
        for (int i = 0; i < 4; i++) {
            MPI_Recv(&number, 1, MPI_INT, 1, tags[i], MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            CHECK(number == expected[i]);
        }
    }
    MPI_Buffer_detach(&buffer, &bytes);
    CHECK(buffer == attached && bytes == sizeof attached);
    return probe_end();
}
