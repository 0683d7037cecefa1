/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_fence.c - between two fences: puts and accumulates before the gate,
 * and others after it.
 */
#include "probes/probe.h"

#define COUNT 6

/* Puts the origin's contiguous numbers to every other number of the target. */
static void put_strided(const int *numbers, MPI_Win window)
{
    MPI_Datatype strided;

    MPI_Type_vector(COUNT / 2, 1, 2, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    MPI_Put(numbers, COUNT / 2, MPI_INT, 1 - probe_rank, 0, 1, strided, window);
    MPI_Type_free(&strided);
}

int main(int argc, char **argv)
{
    int memory[COUNT + 1] = {0}, got = 0, numbers[COUNT / 2];
    int one = 1;
    MPI_Win window;

    probe_begin(argc, argv, 2);
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int i = 0; i < COUNT / 2; i++) {
        numbers[i] = 100 * probe_rank + i;
    }
    put_strided(numbers, window);
    MPI_Accumulate(&one, 1, MPI_INT, 0, COUNT, 1, MPI_INT, MPI_SUM, window);
    probe_gate();
    MPI_Accumulate(&one, 1, MPI_INT, 0, COUNT, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < COUNT / 2; i++) {
        CHECK(memory[2 * i] == 100 * (1 - probe_rank) + i);
        CHECK(memory[2 * i + 1] == 0);
    }
    MPI_Get(&got, 1, MPI_INT, 0, COUNT, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK(got == 4);
    MPI_Win_free(&window);
    CHECK(window == MPI_WIN_NULL);
    return probe_end();
}
