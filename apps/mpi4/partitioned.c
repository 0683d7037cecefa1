/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned.c - partitioned communication: inactive requests, and started ones with some
 * partitions ready and some arrived; the two ends have different numbers of partitions.
 */
#include "probes/probe.h"

#define PARTS  8
#define EACH   1000 /* ints of a partition */
#define TOTAL  (PARTS * EACH)
#define ROUNDS 5

static int *out, *in, small_out[PARTS], small_in[PARTS];
static MPI_Request send, receive, small_send, small_receive;

static int value(int rank, int round, int i)
{
    return rank * 1000000 + round * 100000 + i;
}

/* The receiver has half as many partitions. */
static void make(void)
{
    const int other = 1 - probe_rank;
    MPI_Comm w = MPI_COMM_WORLD;

    out = calloc(TOTAL, sizeof(int));
    in = calloc(TOTAL, sizeof(int));
    MPI_Psend_init(out, PARTS, EACH, MPI_INT, other, 1, w, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, PARTS / 2, 2 * EACH, MPI_INT, other, 1, w, MPI_INFO_NULL,
                   &receive);
    MPI_Psend_init(small_out, PARTS, 1, MPI_INT, other, 2, w, MPI_INFO_NULL,
                   &small_send);
    MPI_Precv_init(small_in, PARTS, 1, MPI_INT, other, 2, w, MPI_INFO_NULL,
                   &small_receive);
}

static void set(int round, int from, int to)
{
    for (int i = from * EACH; i < to * EACH; i++) {
        out[i] = value(probe_rank, round, i);
    }
}

static void check(int round)
{
    for (int i = 0; i < TOTAL; i++) {
        CHECK(in[i] == value(1 - probe_rank, round, i));
    }
}

/* Marks partitions ready in three ways; the gate comes in the middle. */
static void begin(int round)
{
    int list[] = {6, 1};

    set(round, 1, 2);
    set(round, 6, 7);
    MPI_Start(&send);
    MPI_Start(&receive);
    MPI_Pready_list(2, list, send);
    set(round, 2, 4);
    MPI_Pready_range(2, 3, send);
}

static void end(int round)
{
    MPI_Status status;
    int flag = 0, count;

    set(round, 0, 1);
    MPI_Pready(0, send);
    while (!flag) {
        MPI_Parrived(receive, 0, &flag);
    }
    for (int i = 0; i < 2 * EACH; i++) {
        CHECK(in[i] == value(1 - probe_rank, round, i));
    }
    set(round, 4, 6);
    set(round, 7, 8);
    MPI_Pready_range(4, 5, send);
    MPI_Pready(7, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == TOTAL && status.MPI_TAG == 1);
    CHECK(status.MPI_SOURCE == 1 - probe_rank);
    check(round);
}

/* One rank sends all, and the other has not started its receive. */
static void use_small(int step)
{
    MPI_Request both[] = {small_send, small_receive};

    if (step == 0) {
        for (int i = 0; i < PARTS; i++) {
            small_out[i] = 7 * i + probe_rank;
        }
        MPI_Start(&small_send);
        MPI_Pready_range(0, PARTS - 1, small_send);
        return;
    }
    MPI_Start(&small_receive);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PARTS; i++) {
        CHECK(small_in[i] == 7 * i + 1 - probe_rank);
    }
}

int main(int argc, char **argv)
{
    MPI_Request *all[] = {&send, &receive, &small_send, &small_receive};

    probe_begin(argc, argv, 2);
    make();
    for (int round = 0; round < ROUNDS; round++) {
        const int gate = round == 2;

        if (!gate || probe_rank == 0) {
            begin(round);
            use_small(0);
        }
        if (gate) {
            probe_gate();
        }
        if (gate && probe_rank == 1) {
            begin(round);
            use_small(0);
        }
        end(round);
        use_small(1);
    }
    for (int i = 0; i < 4; i++) {
        MPI_Request_free(all[i]);
        CHECK(*all[i] == MPI_REQUEST_NULL);
    }
    return probe_end();
}
