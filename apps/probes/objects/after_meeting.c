/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * after_meeting.c - a communicator that was made while one of MPI_Comm_accept existed.
 */
#include "probes/meet.h"

int main(int argc, char **argv)
{
    MPI_Comm between, copy;
    int sum, one = 1;

    probe_begin(argc, argv, 2);
    between = probe_meet();
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Barrier(between);
    MPI_Comm_disconnect(&between);
    while (probe_gate_step()) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, copy);
        CHECK(sum == 2);
    }
    MPI_Comm_free(&copy);
    return probe_end();
}
