/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unreceived_ssend.c - synchronous sends of all kinds whose receives are posted
 * only after the checkpoints. None may complete before, however often a rank
 * tests it, also if it is sent during a checkpoint.
 */
#include "probes/probe.h"

#define KINDS 4         /* short and long, nonblocking and persistent */
#define LONG  (1 << 20) /* bytes, above the eager limit */
#define PEER  (1 - probe_rank)
#define PAUSE 1000  /* us */
#define LAST  KINDS /* tag of the repeated message */

static char *data[KINDS + 1];
static MPI_Request requests[KINDS + 1];

static int length(int kind)
{
    return kind % 2 == 0 ? 1 : LONG;
}

static void begin(int kind)
{
    data[kind] = malloc(LONG);
    memset(data[kind], kind + 1, LONG);
    if (kind < KINDS / 2 || kind == LAST) {
        MPI_Issend(data[kind], length(kind), MPI_CHAR, PEER, kind,
                   MPI_COMM_WORLD, &requests[kind]);
    } else {
        MPI_Ssend_init(data[kind], length(kind), MPI_CHAR, PEER, kind,
                       MPI_COMM_WORLD, &requests[kind]);
        MPI_Start(&requests[kind]);
    }
}

static void check_incomplete(void)
{
    int done;

    for (int kind = 0; kind <= KINDS; kind++) {
        MPI_Request_get_status(requests[kind], &done, MPI_STATUS_IGNORE);
        CHECK(!done);
        MPI_Test(&requests[kind], &done, MPI_STATUS_IGNORE);
        CHECK(!done);
    }
}

static void receive(int kind)
{
    char *buffer = malloc(LONG);

    MPI_Recv(buffer, LONG, MPI_CHAR, PEER, kind, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    CHECK(buffer[0] == kind + 1 && buffer[length(kind) - 1] == kind + 1);
    free(buffer);
}

/* Sends one message after the other. Each is received when its sender has seen
 * that it needs a receive. */
static void exchange_last(void)
{
    receive(LAST);
    MPI_Wait(&requests[LAST], MPI_STATUS_IGNORE);
    free(data[LAST]);
    begin(LAST);
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    for (int kind = 0; kind <= KINDS; kind++) {
        begin(kind);
    }
    while (probe_gate_step()) {
        check_incomplete();
        MPI_Barrier(MPI_COMM_WORLD); /* both have tested */
        exchange_last();
        usleep(PAUSE);
    }
    check_incomplete();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind <= KINDS; kind++) {
        receive(kind);
    }
    MPI_Waitall(KINDS + 1, requests, MPI_STATUSES_IGNORE);
    return probe_end();
}
