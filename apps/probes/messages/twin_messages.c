/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * twin_messages.c - messages on communicators of MPI_Comm_idup: some are under
 * way for many rounds, and several duplications are pending at once.
 */
#include "probes/probe.h"

#define TWINS 3
#define PAUSE 1000 /* us */

static MPI_Comm twins[TWINS];
static int values[TWINS];
static MPI_Request requests[TWINS];

/* Duplicates a duplicate once, and the world twice at the same time. */
static void make_twins(void)
{
    MPI_Request making[TWINS];

    MPI_Comm_idup(MPI_COMM_WORLD, &twins[0], &making[0]);
    MPI_Wait(&making[0], MPI_STATUS_IGNORE);
    MPI_Comm_idup(twins[0], &twins[1], &making[1]);
    MPI_Comm_idup(MPI_COMM_WORLD, &twins[2], &making[2]);
    MPI_Waitall(2, making + 1, MPI_STATUSES_IGNORE);
}

static void post(void)
{
    for (int i = 0; i < TWINS; i++) {
        MPI_Irecv(&values[i], 1, MPI_INT, 1 - probe_rank, i, twins[i],
                  &requests[i]);
    }
}

/* Sends messages for which the other rank posted a receive long ago, or will do
 * so. */
static void send(int round)
{
    for (int i = 0; i < TWINS; i++) {
        const int value = 100 * round + 10 * i + probe_rank;

        MPI_Send(&value, 1, MPI_INT, 1 - probe_rank, i, twins[i]);
    }
}

static void check(int round)
{
    MPI_Waitall(TWINS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < TWINS; i++) {
        CHECK(values[i] == 100 * round + 10 * i + 1 - probe_rank);
    }
}

int main(int argc, char **argv)
{
    int round = 0;

    probe_begin(argc, argv, 2);
    make_twins();
    send(round);
    do {
        MPI_Comm passing;
        MPI_Request request;

        MPI_Comm_idup(twins[round % TWINS], &passing, &request);
        post();
        check(round);
        send(++round);
        usleep(PAUSE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&passing);
    } while (probe_gate_step());
    post();
    check(round);
    for (int i = 0; i < TWINS; i++) {
        MPI_Comm_free(&twins[i]);
    }
    return probe_end();
}
