/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_waits.c - an operation that takes a lock of the program. Another
 * thread holds this lock nearly all the time, and calls MPI with it. These
 * calls do not wait for other ranks, so the program is correct. A thread that
 * runs the operation for a checkpoint must not keep the other thread out of
 * MPI.
 */
#include "probes/probe.h"

#include <pthread.h>

#define COUNT 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int finished;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout;

    CHECK(*type == MPI_INT);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < *count; i++) {
        to[i] += from[i];
    }
    pthread_mutex_unlock(&mutex);
}

static void *hold_lock(void *unused)
{
    while (!finished) {
        MPI_Datatype type;

        pthread_mutex_lock(&mutex);
        MPI_Type_contiguous(2, MPI_INT, &type);
        MPI_Type_free(&type);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(int argc, char **argv)
{
    int provided, mine[COUNT], sums[COUNT] = {0};
    MPI_Request request;
    pthread_t holder;
    MPI_Op op;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    probe_begin_initialized(argc, argv, 2);
    for (int i = 0; i < COUNT; i++) {
        mine[i] = 10 * probe_rank + i;
    }
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(mine, sums, COUNT, MPI_INT, op, MPI_COMM_WORLD, &request);
    CHECK(pthread_create(&holder, NULL, hold_lock, NULL) == 0);
    probe_gate();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < COUNT; i++) {
        CHECK(sums[i] == 10 + 2 * i);
    }
    finished = 1;
    pthread_join(holder, NULL);
    MPI_Op_free(&op);
    return probe_end();
}
