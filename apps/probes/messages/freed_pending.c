/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freed_pending.c - communicators that are freed while messages on them are
 * pending: the messages go on (MPI 3.1, section 6.4.3). Rank 0 has freed all of
 * them, and rank 1 still has to use some. (Open MPI 4.1 itself crashes in a
 * nonblocking collective on a freed communicator.)
 */
#include "probes/probe.h"

#define LARGE 200000

enum {
    RECEIVE,
    LARGE_MESSAGE,
    SYNCHRONOUS,
    COUNT
};

static MPI_Comm comms[COUNT];
static MPI_Request requests[COUNT];
static int large[LARGE], in[COUNT], out[COUNT];

static void begin(int peer)
{
    for (int i = 0; i < COUNT; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        requests[i] = MPI_REQUEST_NULL;
        out[i] = 10 * probe_rank + i;
    }
    if (probe_rank == 0) {
        MPI_Irecv(&in[RECEIVE], 1, MPI_INT, peer, 1, comms[RECEIVE],
                  &requests[RECEIVE]);
        fill(large, sizeof large, 5);
        MPI_Isend(large, LARGE, MPI_INT, peer, 2, comms[LARGE_MESSAGE],
                  &requests[LARGE_MESSAGE]);
        MPI_Issend(&out[SYNCHRONOUS], 1, MPI_INT, peer, 3, comms[SYNCHRONOUS],
                   &requests[SYNCHRONOUS]);
    } else {
        MPI_Irecv(large, LARGE, MPI_INT, peer, 2, comms[LARGE_MESSAGE],
                  &requests[LARGE_MESSAGE]);
        MPI_Comm_free(&comms[LARGE_MESSAGE]);
    }
    for (int i = 0; i < COUNT && probe_rank == 0; i++) {
        MPI_Comm_free(&comms[i]);
    }
}

/* Sends the messages that rank 0 waits for. */
static void serve(int peer)
{
    MPI_Send(&out[RECEIVE], 1, MPI_INT, peer, 1, comms[RECEIVE]);
    MPI_Recv(&in[SYNCHRONOUS], 1, MPI_INT, peer, 3, comms[SYNCHRONOUS],
             MPI_STATUS_IGNORE);
    CHECK(in[SYNCHRONOUS] == SYNCHRONOUS);
    MPI_Comm_free(&comms[RECEIVE]);
    MPI_Comm_free(&comms[SYNCHRONOUS]);
}

int main(int argc, char **argv)
{
    int flag = 0;

    probe_begin(argc, argv, 2);
    begin(1 - probe_rank);
    probe_gate();
    if (probe_rank == 0) {
        MPI_Test(&requests[RECEIVE], &flag, MPI_STATUS_IGNORE);
        CHECK(flag == 0 || in[RECEIVE] == 10 + RECEIVE);
    } else {
        serve(1 - probe_rank);
    }
    MPI_Waitall(COUNT, requests, MPI_STATUSES_IGNORE);
    CHECK(probe_rank == 1 || in[RECEIVE] == 10 + RECEIVE);
    CHECK(is_filled(large, sizeof large, 5));
    return probe_end();
}
