/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drained_duplicate.c - messages in flight on duplicated communicators.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Comm first, second;
    int numbers[3] = {100, 200, 300};

    probe_begin(argc, argv, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(first, &second);
    if (probe_rank == 1) {
        MPI_Send(&numbers[0], 1, MPI_INT, 0, 5, first);
        MPI_Send(&numbers[1], 1, MPI_INT, 0, 5, second);
        MPI_Send(&numbers[2], 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    probe_gate_together();
    if (probe_rank == 0) {
        MPI_Comm comms[3] = {first, second, MPI_COMM_WORLD};

        for (int i = 2; i >= 0; i--) { /* against the order of sending */
            int number = 0;

            MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i],
                     MPI_STATUS_IGNORE);
            CHECK(number == numbers[i]);
        }
    }
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
    return probe_end();
}
