/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stepped.c OPERATION - repeats an operation; a test controls each repetition.
 *
 * Rank 1 begins the N-th operation (barrier, reduce, in_place, split, receive, wait) at once, rank
 * 0 when the file "step.N" exists. When the file "end" exists, the next operation is the last.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int exists(const char *format, int number)
{
    char name[32];

    snprintf(name, sizeof name, format, number);
    return access(name, F_OK) == 0;
}

/* Returns 1 if the operation's result is right. */
static int operate(const char *name, int rank, int step)
{
    int value = step + rank;

    if (strcmp(name, "barrier") == 0) {
        return MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS;
    }
    if (strcmp(name, "reduce") == 0) {
        int sum;

        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        return sum == 2 * step + 1;
    }
    if (strcmp(name, "in_place") == 0) { /* cannot be entered again */
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        return value == 2 * step + 1;
    }
    if (strcmp(name, "split") == 0) {
        MPI_Comm comm;
        int size;

        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
        MPI_Comm_size(comm, &size);
        MPI_Comm_free(&comm);
        return size == 2;
    }
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, step % 1000, MPI_COMM_WORLD);
    } else if (strcmp(name, "receive") == 0) {
        MPI_Recv(&value, 1, MPI_INT, 0, step % 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Request request;

        MPI_Irecv(&value, 1, MPI_INT, 0, step % 1000, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return value == step;
}

int main(int argc, char **argv)
{
    int rank, is_over = 0, is_right = 1, step;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("process of rank %d is %d\n", rank, (int)getpid());
    fflush(stdout);
    for (step = 0; !is_over; step++) {
        while (rank == 0 && !exists("step.%d", step) && !exists("end", 0)) {
            usleep(500);
        }
        is_right &= operate(argc > 1 ? argv[1] : "barrier", rank, step);
        is_over = rank == 0 && exists("end", 0);
        MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    printf("%s rank %d, %d operations\n", is_right ? "OK" : "WRONG", rank, step);
    return MPI_Finalize();
}
