/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_shared.c - memory that all ranks load and store: one contiguous piece,
 * and one with a separate part for each rank, of which one rank has none.
 */
#include "probes/probe.h"

#define COUNT 3001 /* ints of each rank: no whole pages */

struct shared {
    MPI_Win window;
    int *part[3];
};

static struct shared make(int count, const char *apart)
{
    struct shared made;
    MPI_Aint size;
    MPI_Info info;
    int *own, unit;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart);
    MPI_Win_allocate_shared(count * (MPI_Aint)sizeof *own, sizeof *own, info,
                            MPI_COMM_WORLD, &own, &made.window);
    MPI_Info_free(&info);
    for (int i = 0; i < 3; i++) {
        MPI_Win_shared_query(made.window, i, &size, &unit, &made.part[i]);
        CHECK(unit == sizeof *own);
    }
    CHECK(count == 0 || made.part[probe_rank] == own);
    return made;
}

/* Stores into the part of the rank `away` ranks from here. */
static void store(const struct shared *shared, int away, int start)
{
    const int rank = (probe_rank + away) % 3;

    for (int i = 0; i < COUNT; i++) {
        shared->part[rank][i] = start + 10000 * rank + i;
    }
}

static void check(const struct shared *shared, int rank, int start)
{
    for (int i = 0; i < COUNT; i++) {
        CHECK(shared->part[rank][i] == start + 10000 * rank + i);
    }
}

static void wait_for_all(const struct shared *shared)
{
    MPI_Win_sync(shared->window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(shared->window);
}

int main(int argc, char **argv)
{
    struct shared whole, apart;
    int number, got = 0;
    MPI_Aint size;
    int unit, *start;

    probe_begin(argc, argv, 3);
    whole = make(COUNT, "false");
    apart = make(probe_rank == 1 ? 0 : COUNT, "true");
    CHECK(whole.part[1] == whole.part[0] + COUNT);
    MPI_Win_lock_all(0, whole.window);
    store(&whole, 1, 7);
    wait_for_all(&whole);
    if (probe_rank == 0) {
        store(&apart, 2, 9);
    }
    probe_gate();
    for (int i = 0; i < 3; i++) {
        check(&whole, i, 7);
    }
    wait_for_all(&whole);
    check(&apart, 2, 9);
    store(&whole, 2, 8); /* all ranks still share the pages */
    wait_for_all(&whole);
    for (int i = 0; i < 3; i++) {
        check(&whole, i, 8);
    }
    MPI_Win_unlock_all(whole.window);
    MPI_Win_fence(0, whole.window);
    number = 100 + probe_rank;
    MPI_Put(&number, 1, MPI_INT, (probe_rank + 1) % 3, 5, 1, MPI_INT,
            whole.window);
    MPI_Get(&got, 1, MPI_INT, 2, COUNT - 1, 1, MPI_INT, whole.window);
    MPI_Win_fence(0, whole.window);
    CHECK(whole.part[probe_rank][5] == 100 + (probe_rank + 2) % 3);
    CHECK(got == 8 + 20000 + COUNT - 1);
    MPI_Win_fence(0, apart.window);
    MPI_Get(&got, 1, MPI_INT, 2, COUNT - 1, 1, MPI_INT, apart.window);
    MPI_Win_fence(0, apart.window);
    CHECK(got == 9 + 20000 + COUNT - 1);
    MPI_Win_shared_query(apart.window, MPI_PROC_NULL, &size, &unit, &start);
    CHECK(size >= COUNT * (MPI_Aint)sizeof *start && start == apart.part[0]);
    MPI_Win_free(&apart.window);
    MPI_Win_free(&whole.window);
    return probe_end();
}
