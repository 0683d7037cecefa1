/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mixed_requests.c - one array of requests of all kinds, some complete and some not: sends of all
 * modes, receives, persistent requests, nonblocking collectives and a generalized request.
 * MPI_Testsome and MPI_Waitsome complete them.
 */
#include "probes/probe.h"

enum {
    RECEIVE,
    SEND,
    SYNCHRONOUS,
    READY,
    PERSISTENT,
    IDLE,
    BARRIER,
    SUM,
    BROADCAST,
    GENERALIZED,
    COUNT
};

static MPI_Request requests[COUNT];
static int sent[COUNT], received[COUNT];

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}

static int end(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

/* Rank 1 waits for messages that rank 0 has already sent, and vice versa; only rank 0 begins the
 * collectives. */
static void begin(int other)
{
    MPI_Irecv(&received[RECEIVE], 1, MPI_INT, other, RECEIVE, MPI_COMM_WORLD,
              &requests[RECEIVE]);
    MPI_Isend(&sent[SEND], 1, MPI_INT, other, SEND, MPI_COMM_WORLD,
              &requests[SEND]);
    MPI_Issend(&sent[SYNCHRONOUS], 1, MPI_INT, other, SYNCHRONOUS,
               MPI_COMM_WORLD, &requests[SYNCHRONOUS]);
    MPI_Recv_init(&received[PERSISTENT], 1, MPI_INT, other, PERSISTENT,
                  MPI_COMM_WORLD, &requests[PERSISTENT]);
    MPI_Recv_init(&received[IDLE], 1, MPI_INT, other, IDLE, MPI_COMM_WORLD,
                  &requests[IDLE]);
    MPI_Start(&requests[PERSISTENT]);
    MPI_Grequest_start(query, end, cancel, NULL, &requests[GENERALIZED]);
    requests[READY] = MPI_REQUEST_NULL;
}

static void begin_collectives(void)
{
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[BARRIER]);
    MPI_Iallreduce(&sent[SUM], &received[SUM], 1, MPI_INT, MPI_SUM,
                   MPI_COMM_WORLD, &requests[SUM]);
    MPI_Ibcast(probe_rank == 0 ? &sent[BROADCAST] : &received[BROADCAST], 1,
               MPI_INT, 0, MPI_COMM_WORLD, &requests[BROADCAST]);
}

/* Sends and receives that both ranks make late. */
static void answer(int other)
{
    MPI_Request ready;
    int number;

    MPI_Irecv(&received[READY], 1, MPI_INT, other, READY, MPI_COMM_WORLD, &ready);
    MPI_Sendrecv(&sent[IDLE], 1, MPI_INT, other, 99, &number, 1, MPI_INT, other,
                 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(number == 100 * other + IDLE);
    MPI_Irsend(&sent[READY], 1, MPI_INT, other, READY, MPI_COMM_WORLD,
               &requests[READY]);
    MPI_Send(&sent[RECEIVE], 1, MPI_INT, other, RECEIVE, MPI_COMM_WORLD);
    MPI_Send(&sent[PERSISTENT], 1, MPI_INT, other, PERSISTENT, MPI_COMM_WORLD);
    MPI_Recv(&received[SEND], 1, MPI_INT, other, SEND, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Recv(&received[SYNCHRONOUS], 1, MPI_INT, other, SYNCHRONOUS,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&ready, MPI_STATUS_IGNORE);
}

/* Records the requests that a call has completed, each once. */
static int note(int collected[], const int indices[], const MPI_Status statuses[],
                int count)
{
    for (int i = 0; i < count; i++) {
        CHECK(indices[i] != IDLE && !collected[indices[i]]++);
        if (indices[i] == GENERALIZED) {
            CHECK(statuses[i].MPI_SOURCE == 5 && statuses[i].MPI_TAG == 6);
        }
    }
    return count;
}

static void check(int other)
{
    for (int i = 0; i < COUNT; i++) {
        const int by_other = i <= PERSISTENT;

        CHECK(!by_other || received[i] == 100 * other + i);
    }
    CHECK(received[SUM] == 100 + 2 * SUM);
    CHECK(probe_rank == 0 || received[BROADCAST] == BROADCAST);
}

int main(int argc, char **argv)
{
    int collected[COUNT] = {0}, indices[COUNT], count, done = 0, flag, other;
    MPI_Status statuses[COUNT];

    probe_begin(argc, argv, 2);
    other = 1 - probe_rank;
    for (int i = 0; i < COUNT; i++) {
        sent[i] = 100 * probe_rank + i;
    }
    requests[BARRIER] = requests[SUM] = requests[BROADCAST] = MPI_REQUEST_NULL;
    begin(other);
    if (probe_rank == 0) {
        begin_collectives();
    }
    MPI_Testsome(COUNT, requests, &count, indices, statuses);
    CHECK(count != MPI_UNDEFINED);
    done += note(collected, indices, statuses, count);
    probe_gate();
    MPI_Request_get_status(requests[GENERALIZED], &flag, &statuses[0]);
    CHECK(!flag);
    MPI_Grequest_complete(requests[GENERALIZED]);
    if (probe_rank == 1) {
        begin_collectives();
    }
    answer(other);
    while (done < COUNT - 1) { /* all but the idle one */
        MPI_Waitsome(COUNT, requests, &count, indices, statuses);
        CHECK(count != MPI_UNDEFINED);
        done += note(collected, indices, statuses, count);
    }
    check(other);
    MPI_Waitsome(COUNT, requests, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
    MPI_Request_free(&requests[PERSISTENT]);
    MPI_Request_free(&requests[IDLE]);
    return probe_end();
}
