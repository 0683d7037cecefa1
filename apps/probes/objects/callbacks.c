/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callbacks.c - an operation and the functions of a generalized request that
 * call MPI themselves, in a program that has requested thread support.
 */
#include "probes/probe.h"

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout, size;
    MPI_Datatype twin;

    MPI_Type_dup(*type, &twin);
    MPI_Type_size(twin, &size);
    MPI_Type_free(&twin);
    CHECK(size == (int)sizeof(int));
    for (int i = 0; i < *count; i++) {
        to[i] += from[i];
    }
}

static int query(void *extra, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *(int *)extra = rank;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    CHECK(!complete);
    return MPI_SUCCESS;
}

static void reduce(MPI_Op op)
{
    int sums[3] = {0}, mine[3] = {1, probe_rank, 7};

    MPI_Allreduce(mine, sums, 3, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sums[0] == probe_size && sums[2] == 7 * probe_size);
    CHECK(sums[1] == probe_size * (probe_size - 1) / 2);
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Op op;
    int provided, count, extra = 11;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    CHECK(provided == MPI_THREAD_SERIALIZED);
    probe_begin_initialized(argc, argv, 2);
    MPI_Op_create(add, 1, &op);
    MPI_Grequest_start(query, release, cancel, &extra, &request);
    reduce(op);
    probe_gate_together();
    reduce(op);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_elements(&status, MPI_INT, &count);
    CHECK(count == 11);
    CHECK(extra == probe_rank);
    MPI_Op_free(&op);
    return probe_end();
}
