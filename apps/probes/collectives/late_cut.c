/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_cut.c - rank 1 is in callbacks nearly all the time, where a checkpoint
 * has to wait for it. If no rank stands still, rank 1 is cut long after rank 0.
 * Meanwhile it tests operations that rank 0 completes after its own cut. These
 * are synchronous sends without a receive, which are never complete, and
 * broadcasts of values that rank 0 would choose again after a restart.
 */
#include "probes/probe.h"

#include <time.h>

#define CASTS     16
#define CALLBACKS 4  /* in a round, in immediate succession */
#define LOOKS     20 /* tests in a callback */
#define LOOK_US   2000
#define CAST_US   10000

enum tag {
    UNRECEIVED = 1,
    LOOKED,
    SEEN
};

static uint64_t values[CASTS];
static MPI_Request casts[CASTS], unreceived;
static int sent;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void look(void)
{
    int done;

    MPI_Test(&unreceived, &done, MPI_STATUS_IGNORE);
    CHECK(!done);
    for (int i = 0; i < CASTS; i++) {
        MPI_Test(&casts[i], &done, MPI_STATUS_IGNORE);
    }
}

static int looks(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    for (int i = 0; i < LOOKS; i++) {
        look();
        usleep(LOOK_US);
    }
    return MPI_SUCCESS;
}

static int nothing(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int no_cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void look_in_callback(void)
{
    MPI_Request request;

    MPI_Grequest_start(looks, nothing, no_cancel, NULL, &request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void begin_cast(int i)
{
    MPI_Ibcast(&values[i], 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, &casts[i]);
}

static void watch(void)
{
    sent++;
    MPI_Issend(&sent, 1, MPI_INT, 0, UNRECEIVED, MPI_COMM_WORLD, &unreceived);
    for (int i = 0; i < CASTS; i++) {
        begin_cast(i);
    }
    for (int i = 0; i < CALLBACKS; i++) {
        look_in_callback();
    }
    look();
    MPI_Send(NULL, 0, MPI_INT, 0, LOOKED, MPI_COMM_WORLD);
    MPI_Wait(&unreceived, MPI_STATUS_IGNORE);
    MPI_Waitall(CASTS, casts, MPI_STATUSES_IGNORE);
    MPI_Send(values, CASTS, MPI_UINT64_T, 0, SEEN, MPI_COMM_WORLD);
}

static void cast(void)
{
    uint64_t seen[CASTS];
    int number;

    for (int i = 0; i < CASTS; i++) {
        usleep(CAST_US);
        values[i] = now();
        begin_cast(i);
        MPI_Test(&casts[i], &number, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_INT, 1, LOOKED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&number, 1, MPI_INT, 1, UNRECEIVED, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(number == ++sent);
    MPI_Waitall(CASTS, casts, MPI_STATUSES_IGNORE);
    MPI_Recv(seen, CASTS, MPI_UINT64_T, 1, SEEN, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(memcmp(seen, values, sizeof(seen)) == 0);
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    do {
        probe_rank == 0 ? cast() : watch();
    } while (probe_gate_step());
    return probe_end();
}
