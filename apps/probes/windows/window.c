/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.c - a window of memory that MPI has allocated, after a fence.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Win window;
    int *memory;
    int number;

    probe_begin(argc, argv, 2);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &window);
    *memory = -1;
    MPI_Win_fence(0, window);
    probe_gate();
    number = probe_rank + 50;
    MPI_Put(&number, 1, MPI_INT, 1 - probe_rank, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    CHECK(*memory == 51 - probe_rank);
    MPI_Win_free(&window);
    return probe_end();
}
