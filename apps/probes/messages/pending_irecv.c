/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending_irecv.c - posted receives and messages in flight keep their order.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Request requests[4];
    int numbers[4] = {-1, -1, -1, -1};

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        /* No message before the gate matches this receive: its tag differs. */
        MPI_Irecv(&numbers[0], 1, MPI_INT, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Irecv(&numbers[1], 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &requests[1]);
    } else {
        for (int i = 10; i < 12; i++) { /* two messages in flight */
            MPI_Send(&i, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
    }
    probe_gate_together();
    if (probe_rank == 1) {
        for (int i = 20; i < 22; i++) {
            MPI_Send(&i, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
            MPI_Send(&i, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
        }
    } else {
        MPI_Status statuses[4];
        int number;

        MPI_Irecv(&numbers[2], 1, MPI_INT, 1, 8, MPI_COMM_WORLD, &requests[2]);
        MPI_Irecv(&numbers[3], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[3]);
        MPI_Waitall(4, requests, statuses);
        CHECK(numbers[0] == 20 && numbers[1] == 21);
        CHECK(statuses[0].MPI_SOURCE == 1 && statuses[0].MPI_TAG == 9);
        CHECK(numbers[2] == 10 && numbers[3] == 11);
        for (int i = 20; i < 22; i++) {
            MPI_Recv(&number, 1, MPI_INT, 1, 8, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            CHECK(number == i);
        }
    }
    return probe_end();
}
