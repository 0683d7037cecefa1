/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partitioned_types.c - partitioned communication with different types at the two ends, and two
 * transfers with one tag that the ends start in different orders. (Open MPI 5.0 itself supports
 * neither.)
 */
#include "probes/probe.h"

#define PARTS 4
#define EACH  3 /* ints of a sender's partition */
#define TOTAL (PARTS * EACH)

static int out[TOTAL], in[2 * TOTAL], twin_out[2], twin_in[2];
static MPI_Request send, receive;
static MPI_Request first[2], second[2]; /* send, receive */
static MPI_Datatype spread;             /* four ints with gaps */

static void make(void)
{
    const int other = 1 - probe_rank;
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Datatype gap;

    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gap);
    MPI_Type_contiguous(4, gap, &spread);
    MPI_Type_commit(&spread);
    MPI_Type_free(&gap);
    MPI_Psend_init(out, PARTS, EACH, MPI_INT, other, 1, w, MPI_INFO_NULL, &send);
    MPI_Precv_init(in, TOTAL / 4, 1, spread, other, 1, w, MPI_INFO_NULL,
                   &receive);
    MPI_Psend_init(&twin_out[0], 1, 1, MPI_INT, other, 3, w, MPI_INFO_NULL,
                   &first[0]);
    MPI_Psend_init(&twin_out[1], 1, 1, MPI_INT, other, 3, w, MPI_INFO_NULL,
                   &second[0]);
    MPI_Precv_init(&twin_in[0], 1, 1, MPI_INT, other, 3, w, MPI_INFO_NULL,
                   &first[1]);
    MPI_Precv_init(&twin_in[1], 1, 1, MPI_INT, other, 3, w, MPI_INFO_NULL,
                   &second[1]);
    MPI_Type_free(&spread); /* the request still uses it */
}

static int value(int rank, int round, int i)
{
    return rank * 1000 + round * 100 + i;
}

static void begin(int round)
{
    for (int i = 0; i < TOTAL; i++) {
        out[i] = value(probe_rank, round, i);
        in[2 * i + 1] = -1;
    }
    MPI_Start(&receive);
    MPI_Start(&send);
    MPI_Pready(2, send);
    MPI_Pready(0, send);
    twin_out[0] = 10 * round + probe_rank;
    twin_out[1] = twin_out[0] + 1000;
    MPI_Start(&second[0]);
    MPI_Pready(0, second[0]);
}

static void end(int round)
{
    MPI_Pready(1, send);
    MPI_Pready(3, send);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    for (int i = 0; i < TOTAL; i++) {
        CHECK(in[2 * i] == value(1 - probe_rank, round, i));
        CHECK(in[2 * i + 1] == -1);
    }
    MPI_Startall(2, first);
    MPI_Pready(0, first[0]);
    MPI_Start(&second[1]);
    MPI_Waitall(2, first, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, second, MPI_STATUSES_IGNORE);
    CHECK(twin_in[0] == 10 * round + 1 - probe_rank);
    CHECK(twin_in[1] == twin_in[0] + 1000);
}

int main(int argc, char **argv)
{
    MPI_Request *all[] = {&send, &receive, &first[0], &first[1], &second[0],
                          &second[1]};

    probe_begin(argc, argv, 2);
    make();
    for (int round = 0; round < 4; round++) {
        begin(round);
        if (round == 2) {
            probe_gate();
        }
        end(round);
    }
    for (int i = 0; i < 6; i++) {
        MPI_Request_free(all[i]);
    }
    return probe_end();
}
