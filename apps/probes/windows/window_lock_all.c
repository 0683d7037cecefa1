/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_lock_all.c - inside of MPI_Win_lock_all: pending requests, a counter
 * from which ranks 0 and 1 draw numbers, and a lock made of compare-and-swap,
 * which rank 0 holds. The memory is shared because Open MPI 4.1 crashes when it
 * swaps in any other.
 */
#include "probes/probe.h"

enum {
    COUNTER,
    LOCK,
    TOTAL,
    FIRST,
    SECOND,
    WORDS
};
enum {
    HOME = 2
};

static MPI_Win window;

static long draw(void)
{
    long one = 1, number = -1;

    MPI_Fetch_and_op(&one, &number, MPI_LONG, HOME, COUNTER, MPI_SUM, window);
    MPI_Win_flush(HOME, window);
    return number;
}

static void take_lock(void)
{
    long mine = probe_rank + 1, nobody = 0, before;

    do {
        MPI_Compare_and_swap(&mine, &nobody, &before, MPI_LONG, HOME, LOCK,
                             window);
        MPI_Win_flush(HOME, window);
    } while (before != nobody);
}

static void give_lock(void)
{
    long nobody = 0;

    MPI_Accumulate(&nobody, 1, MPI_LONG, HOME, LOCK, 1, MPI_LONG, MPI_REPLACE,
                   window);
    MPI_Win_flush(HOME, window);
}

/* Adds to the total, which no other rank may change meanwhile. */
static void add_to_total(long value)
{
    long total;

    MPI_Get(&total, 1, MPI_LONG, HOME, TOTAL, 1, MPI_LONG, window);
    MPI_Win_flush(HOME, window);
    total += value;
    MPI_Put(&total, 1, MPI_LONG, HOME, TOTAL, 1, MPI_LONG, window);
    MPI_Win_flush_all(window);
}

/* The work of ranks 0 and 1; returns the sum of the numbers drawn. */
static long use(void)
{
    const int other = 1 - probe_rank;
    long numbers[2] = {11, 22}, got = 0, drawn = draw() + draw();
    MPI_Request requests[3];

    if (probe_rank == 0) {
        take_lock();
    }
    MPI_Rput(&numbers[0], 1, MPI_LONG, other, FIRST, 1, MPI_LONG, window,
             &requests[0]);
    MPI_Raccumulate(&numbers[1], 1, MPI_LONG, other, SECOND, 1, MPI_LONG,
                    MPI_SUM, window, &requests[1]);
    MPI_Rget(&got, 1, MPI_LONG, HOME, LOCK, 1, MPI_LONG, window, &requests[2]);
    if (probe_rank == 0) {
        probe_gate();
        add_to_total(5);
        give_lock();
    }
    take_lock();
    add_to_total(7);
    give_lock();
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK(probe_rank == 1 || got == 1);
    return drawn + draw();
}

int main(int argc, char **argv)
{
    long *memory, drawn = 0;

    probe_begin(argc, argv, 3);
    MPI_Win_allocate_shared(WORDS * sizeof *memory, sizeof *memory,
                            MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < WORDS; i++) {
        memory[i] = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    if (probe_rank != HOME) {
        drawn = use();
    }
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &drawn, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK(drawn == 0 + 1 + 2 + 3 + 4 + 5);
    CHECK(probe_rank == HOME || (memory[FIRST] == 11 && memory[SECOND] == 22));
    CHECK(probe_rank != HOME || memory[TOTAL] == 5 + 7 + 7);
    MPI_Win_free(&window);
    return probe_end();
}
