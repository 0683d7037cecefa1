/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meet.h - two ranks of one job meet through a port, as independent jobs would.
 */
#ifndef PROBE_MEET_H
#define PROBE_MEET_H

#include "probes/probe.h"

/* Returns the intercommunicator of ranks 0 and 1; both are alone in their groups. */
static inline MPI_Comm probe_meet(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm between;

    if (probe_rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof(port), MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
        MPI_Close_port(port);
    } else {
        MPI_Recv(port, sizeof(port), MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
    }
    return between;
}

#endif
