/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * circles.c [STEPS [STOP_FILE]] - ranks that meet in groups which overlap from step to step. The
 * members of a group make a communicator (MPI_Comm_create_group), add numbers up in it, and free
 * it. They do not wait for other ranks, so ranks are many steps apart. With STEPS 0 it runs until
 * STOP_FILE exists.
 */
#include "selfcheck.h"

#include <stdlib.h>
#include <unistd.h>

#define TOGETHER 64 /* steps between two meetings of all ranks */
#define TAG      7

static int rank, size;

/* Draws the same members in all ranks. Returns their number; this rank may not be a member. */
static int draw_members(uint64_t step, int *members, int *is_member)
{
    int count = 0;

    *is_member = 0;
    for (int i = 0; i < size; i++) {
        if (mix4(step, (uint64_t)i, 1, 2) % 2 == 0) {
            members[count++] = i;
            *is_member |= i == rank;
        }
    }
    return count;
}

static uint64_t meet(uint64_t step, const int *members, int count)
{
    uint64_t sum = 0, mine = mix4(step, (uint64_t)rank, 3, 4), right = 0;
    MPI_Group all, some;
    MPI_Comm comm;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, count, members, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG, &comm);
    MPI_Barrier(comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    for (int i = 0; i < count; i++) {
        right += mix4(step, (uint64_t)members[i], 3, 4);
    }
    CHECK(sum == right);
    return sum;
}

static uint64_t run(long steps, const char *stop_file)
{
    int *members = calloc((size_t)size, sizeof(int)), is_member;
    uint64_t sum = 0;

    CHECK(members != NULL);
    for (uint64_t step = 0; step % TOGETHER != 0 || has_another_step(step, steps, stop_file);
         step++) {
        const int count = draw_members(step, members, &is_member);

        if (rank == 0 && step % TOGETHER == 0) {
            printf("step %" PRIu64 "\n", step);
            fflush(stdout);
        }
        if (is_member) {
            sum += meet(step, members, count);
        }
    }
    free(members);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t sum;
    long steps;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = number_argument(argc, argv, 1, 1024);
    CHECK(steps > 0 || argc > 2);
    sum = run(steps, argv[2]);
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
