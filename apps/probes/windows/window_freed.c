/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_freed.c - a freed window: the program can be saved again.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Win window;
    int *memory;

    probe_begin(argc, argv, 2);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    probe_gate();
    return probe_end();
}
