/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_pscw.c - rank 1 has begun an exposure epoch and waits for rank 0,
 * which has begun its access epoch and has made some of its puts.
 */
#include "probes/probe.h"

int main(int argc, char **argv)
{
    MPI_Group world, other;
    MPI_Win window;
    int *memory, number, flag = 0;

    probe_begin(argc, argv, 2);
    MPI_Win_allocate(3 * sizeof *memory, sizeof *memory, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    number = 1 - probe_rank;
    MPI_Group_incl(world, 1, &number, &other);
    MPI_Win_post(other, 0, window); /* each is exposed to the other */
    if (probe_rank == 0) {
        MPI_Win_start(other, 0, window);
        number = 71;
        MPI_Put(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
        MPI_Win_test(window, &flag);
        CHECK(!flag);
        probe_gate();
        MPI_Put(&number, 1, MPI_INT, 1, 2, 1, MPI_INT, window);
        MPI_Win_complete(window);
        while (!flag) {
            MPI_Win_test(window, &flag);
        }
        CHECK(memory[1] == 72);
    } else {
        MPI_Win_wait(window); /* no gate here */
        CHECK(memory[0] == 71 && memory[2] == 71);
        number = 72;
        MPI_Win_start(other, 0, window);
        MPI_Put(&number, 1, MPI_INT, 0, 1, 1, MPI_INT, window);
        MPI_Win_complete(window);
    }
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    return probe_end();
}
