/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * met.c - an intercommunicator of MPI_Comm_accept, which works but cannot be saved yet.
 */
#include "probes/meet.h"

int main(int argc, char **argv)
{
    MPI_Comm between;
    int number;

    probe_begin(argc, argv, 2);
    between = probe_meet();
    probe_gate_together();
    MPI_Sendrecv(&probe_rank, 1, MPI_INT, 0, 1, &number, 1, MPI_INT, 0, 1, between,
                 MPI_STATUS_IGNORE);
    CHECK(number == 1 - probe_rank);
    MPI_Comm_disconnect(&between);
    return probe_end();
}
