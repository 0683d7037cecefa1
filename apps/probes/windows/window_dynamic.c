/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_dynamic.c - memory that is attached to a window, with one piece
 * detached again; more is attached and detached after the gate.
 */
#include "probes/probe.h"

#include <stdlib.h>

static MPI_Win window;

static MPI_Aint place_of(void *address)
{
    MPI_Aint mine, other;

    MPI_Get_address(address, &mine);
    MPI_Sendrecv(&mine, 1, MPI_AINT, 1 - probe_rank, 0, &other, 1, MPI_AINT,
                 1 - probe_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return other;
}

static void put(int number, MPI_Aint place)
{
    MPI_Put(&number, 1, MPI_INT, 1 - probe_rank, place, 1, MPI_INT, window);
    MPI_Win_flush(1 - probe_rank, window);
}

int main(int argc, char **argv)
{
    int *pieces[3], *late;
    MPI_Aint first, last, later;

    probe_begin(argc, argv, 2);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 3; i++) {
        pieces[i] = calloc(1000, sizeof **pieces);
        MPI_Win_attach(window, pieces[i], 1000 * sizeof **pieces);
    }
    MPI_Win_detach(window, pieces[1]);
    first = place_of(pieces[0]);
    last = place_of(&pieces[2][999]);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    put(33, first);
    probe_gate_together();
    put(44, last);
    late = calloc(10, sizeof *late);
    MPI_Win_attach(window, late, 10 * sizeof *late);
    later = place_of(late);
    put(55, later);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(pieces[0][0] == 33 && pieces[2][999] == 44 && late[0] == 55);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(window, pieces[0]);
    MPI_Win_free(&window);
    return probe_end();
}
