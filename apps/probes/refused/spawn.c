/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawn.c - a spawned process, which works but cannot be saved yet.
 */
#include "probes/probe.h"

/* argv: GATE. The child runs this program, too. */
static int be_child(MPI_Comm parent)
{
    int number;

    MPI_Recv(&number, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
    number *= 2;
    MPI_Send(&number, 1, MPI_INT, 0, 1, parent);
    MPI_Comm_disconnect(&parent);
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL);
    MPI_Finalize();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    int number = 21;

    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        return be_child(parent);
    }
    probe_begin_initialized(argc, argv, 1);
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &child, MPI_ERRCODES_IGNORE);
    probe_gate();
    MPI_Send(&number, 1, MPI_INT, 0, 1, child);
    MPI_Recv(&number, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
    CHECK(number == 42);
    MPI_Comm_disconnect(&child);
    return probe_end();
}
