/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.c - a synchronous send completes when its message is being
 * received, not before (MPI 3.1, section 3.4). Also a send that is followed by
 * equal messages, and one whose receive is posted before the checkpoint.
 */
#include "probes/probe.h"

static int is_done(MPI_Request *request)
{
    int done;

    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    return done;
}

static int received(int tag)
{
    int number;

    MPI_Recv(&number, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

static void send_all(MPI_Request requests[], const int numbers[])
{
    MPI_Issend(&numbers[0], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(&numbers[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Issend(&numbers[2], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Issend(&numbers[3], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Send(&numbers[4], 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
}

static void sender(MPI_Request requests[])
{
    CHECK(!is_done(&requests[0]) && !is_done(&requests[1]));
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(!is_done(&requests[1]));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void receiver(MPI_Request *posted, const int *number)
{
    MPI_Wait(posted, MPI_STATUS_IGNORE);
    CHECK(*number == 4);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(received(1) == 1);
    CHECK(received(1) == 2);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(received(1) == 3);
    CHECK(received(1) == 5);
}

/* The same from a rank to itself. */
static void to_self(const int *number, MPI_Request *request)
{
    MPI_Issend(number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, request);
}

static void from_self(MPI_Request *request)
{
    int number = 0;

    CHECK(!is_done(request));
    MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(number == 1);
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const int numbers[] = {1, 2, 3, 4, 5};
    MPI_Request requests[3], posted, own;
    int number = 0;

    probe_begin(argc, argv, 2);
    if (probe_rank == 1) {
        send_all(requests, numbers);
    } else {
        MPI_Irecv(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &posted);
    }
    to_self(&numbers[0], &own);
    probe_gate_together();
    from_self(&own);
    if (probe_rank == 1) {
        sender(requests);
    } else {
        receiver(&posted, &number);
    }
    return probe_end();
}
