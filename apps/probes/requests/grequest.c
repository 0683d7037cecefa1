/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * grequest.c - a generalized request that completes after the checkpoint.
 */
#include "probes/probe.h"

static int query(void *state, MPI_Status *status)
{
    MPI_Status_set_elements(status, MPI_INT, *(int *)state);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int discard(void *state)
{
    *(int *)state = -1;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Status status;
    int state = 6, done, count;

    probe_begin(argc, argv, 2);
    MPI_Grequest_start(query, discard, cancel, &state, &request);
    probe_gate();
    MPI_Test(&request, &done, &status);
    CHECK(!done);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 6 && state == -1);
    return probe_end();
}
