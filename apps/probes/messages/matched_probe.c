/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * matched_probe.c - a message matched with MPI_Mprobe before the checkpoint and
 * received after it.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Message first = MPI_MESSAGE_NULL, second;
    MPI_Status status;
    int found = 0, number = 0;

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        for (int i = 0; i < 3; i++) {
            MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    } else {
        MPI_Mprobe(1, 1, MPI_COMM_WORLD, &first, &status);
    }
    probe_gate_together();
    if (probe_rank == 0) {
        MPI_Request request;
        int count;

        /* The first message is matched, so other receives get the second
         * one. */
        while (!found) {
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found,
                        &second, &status);
        }
        MPI_Get_count(&status, MPI_INT, &count);
        CHECK(status.MPI_SOURCE == 1 && count == 1);
        MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &status);
        CHECK(number == 2);
        MPI_Imrecv(&number, 1, MPI_INT, &second, &request);
        MPI_Wait(&request, &status);
        CHECK(number == 1 && second == MPI_MESSAGE_NULL);
        MPI_Mrecv(&number, 1, MPI_INT, &first, &status);
        CHECK(number == 0 && first == MPI_MESSAGE_NULL);
        CHECK(status.MPI_SOURCE == 1 && status.MPI_TAG == 1);
    }
    return probe_end();
}
