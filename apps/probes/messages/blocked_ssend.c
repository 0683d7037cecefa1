/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocked_ssend.c - a rank waits in MPI_Ssend at the checkpoint; the call must
 * not return before the message is received.
 */
#include "probes/probe.h"

/* Number of probes for a message that must not have been sent yet. */
#define LOOKS 100

int main(int argc, char **argv)
{
    int number = 7, after = 0, flag;

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        MPI_Ssend(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        after = 1;
        MPI_Send(&after, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    } else {
        probe_gate();
        for (int i = 0; i < LOOKS; i++) {
            MPI_Iprobe(1, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            usleep(1000);
        }
        number = 0;
        MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(number == 7);
        MPI_Recv(&after, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(after == 1);
    }
    return probe_end();
}
