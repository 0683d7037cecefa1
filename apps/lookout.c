/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookout.c [STEPS [STOP_FILE]] - on 4 or more ranks, a rank that waits outside of MPI. Rank 1
 * polls shared memory until rank 2 has written there, which rank 2 does after a barrier of the
 * ranks from 2 on. Ranks 0 and 1 have separate collectives, in which rank 0 is ahead. With STEPS 0
 * it runs until STOP_FILE exists.
 */
#include "selfcheck.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define STEPS_PER_LINE 8
#define WORK           1000000 /* numbers mixed in a step: some milliseconds */
#define TAG            7

static int rank, size;
/* Belongs to rank 2, and is mapped by all ranks. */
static _Atomic uint64_t *board;
static MPI_Win window;
static MPI_Comm team; /* ranks 0 and 1, or the others */

static void begin(void)
{
    MPI_Aint bytes = rank == 2 ? (MPI_Aint)sizeof(*board) : 0;
    int unit;

    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &team);
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&board,
                            &window);
    MPI_Win_shared_query(window, 2, &bytes, &unit, (void *)&board);
    MPI_Win_lock_all(0, window);
    if (rank == 2) {
        *board = 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static uint64_t work(uint64_t number)
{
    for (int i = 0; i < WORK; i++) {
        number = mix(number);
    }
    return number;
}

/* Rank 0 decides, and learns it first. */
static uint64_t next(uint64_t step, long steps, const char *stop_file)
{
    uint64_t more = steps > 0 ? step < (uint64_t)steps : access(stop_file, F_OK) != 0;

    if (rank == 1) {
        while (*board < step) {
            (void)sched_yield();
        }
    }
    if (rank == 0) {
        MPI_Send(&more, 1, MPI_UINT64_T, 2, TAG, MPI_COMM_WORLD);
    }
    if (rank == 2) {
        MPI_Recv(&more, 1, MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&more, 1, MPI_UINT64_T, 0, team);
    return more;
}

static uint64_t do_step(uint64_t step)
{
    uint64_t found = 0;

    if (rank >= 2) {
        found = work(step);
        MPI_Barrier(team);
    }
    if (rank == 2) {
        *board = step + 1;
    }
    if (rank == 1) {
        MPI_Send(&step, 1, MPI_UINT64_T, 0, TAG, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Recv(&found, 1, MPI_UINT64_T, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(found == step);
    }
    return found;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    long steps;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = number_argument(argc, argv, 1, 100);
    CHECK(size >= 4 && (steps > 0 || argc > 2));
    begin();
    for (uint64_t step = 0; next(step, steps, argv[2]) != 0; step++) {
        if (rank == 0 && step % STEPS_PER_LINE == 0) {
            printf("step %" PRIu64 "\n", step);
            fflush(stdout);
        }
        sum += do_step(step);
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Comm_free(&team);
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
