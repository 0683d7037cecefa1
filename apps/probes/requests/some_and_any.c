/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * some_and_any.c - Waitsome, Testsome, Waitany, Testany across a checkpoint.
 */
#include "probes/probe.h"

#define COUNT 8

/* The request for this number is complete exactly once. */
static void take(int *numbers, int index, int *taken)
{
    CHECK(index >= 0 && index < COUNT && !taken[index]);
    CHECK(numbers[index] == 100 + index);
    taken[index] = 1;
}

static void take_all(MPI_Request *requests, int *numbers)
{
    int taken[COUNT] = {0}, indices[COUNT];
    int left = COUNT, count, index, done;

    MPI_Waitsome(COUNT, requests, &count, indices, MPI_STATUSES_IGNORE);
    CHECK(count >= 1);
    for (int i = 0; i < count; i++, left--) {
        take(numbers, indices[i], taken);
    }
    while (left > 3) {
        MPI_Testsome(COUNT, requests, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++, left--) {
            take(numbers, indices[i], taken);
        }
    }
    while (left > 1) {
        MPI_Testany(COUNT, requests, &index, &done, MPI_STATUS_IGNORE);
        if (done) {
            take(numbers, index, taken);
            left--;
        }
    }
    if (left > 0) {
        MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE);
        take(numbers, index, taken);
    }
    MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index == MPI_UNDEFINED);
}

int main(int argc, char **argv)
{
    MPI_Request requests[COUNT];
    int numbers[COUNT] = {0};

    probe_begin(argc, argv, 2);
    if (probe_rank == 0) {
        for (int i = 0; i < COUNT; i++) {
            MPI_Irecv(&numbers[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD,
                      &requests[i]);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        int number = 100 + i;

        if (i == COUNT / 2) {
            /* Half of the messages come before, half after. */
            probe_gate_together();
        }
        if (probe_rank == 1) {
            MPI_Send(&number, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
        }
    }
    if (probe_rank == 0) {
        take_all(requests, numbers);
    }
    return probe_end();
}
