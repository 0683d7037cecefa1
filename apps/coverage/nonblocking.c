/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - one of each nonblocking collective, pending at the gate.
 */
#include "blocks.h"
#include "collective_op.h"

static int out[RANKS], in[PLAIN_COLLECTIVES][RANKS];
static MPI_Request requests[PLAIN_COLLECTIVES];

static void begin_moves(MPI_Comm w, MPI_Request *r)
{
    MPI_Ibarrier(w, &r[BARRIER]);
    MPI_Ibcast(in[BCAST], 1, MPI_INT, 1, w, &r[BCAST]);
    MPI_Igather(out, 1, MPI_INT, in[GATHER], 1, MPI_INT, 0, w, &r[GATHER]);
    MPI_Igatherv(out, 1, MPI_INT, in[GATHERV], ones, places, MPI_INT, 0, w,
                 &r[GATHERV]);
    MPI_Iscatter(out, 1, MPI_INT, in[SCATTER], 1, MPI_INT, 0, w, &r[SCATTER]);
    MPI_Iscatterv(out, ones, places, MPI_INT, in[SCATTERV], 1, MPI_INT, 0, w,
                  &r[SCATTERV]);
    MPI_Iallgather(out, 1, MPI_INT, in[ALLGATHER], 1, MPI_INT, w,
                   &r[ALLGATHER]);
    MPI_Iallgatherv(out, 1, MPI_INT, in[ALLGATHERV], ones, places, MPI_INT, w,
                    &r[ALLGATHERV]);
    MPI_Ialltoall(out, 1, MPI_INT, in[ALLTOALL], 1, MPI_INT, w, &r[ALLTOALL]);
    MPI_Ialltoallv(out, ones, places, MPI_INT, in[ALLTOALLV], ones, places,
                   MPI_INT, w, &r[ALLTOALLV]);
    MPI_Ialltoallw(out, ones, offsets, ints, in[ALLTOALLW], ones, offsets, ints,
                   w, &r[ALLTOALLW]);
}

static void begin_reductions(MPI_Comm w, MPI_Request *r)
{
    MPI_Ireduce(out, in[REDUCE], 1, MPI_INT, MPI_SUM, 0, w, &r[REDUCE]);
    MPI_Iallreduce(out, in[ALLREDUCE], 1, MPI_INT, MPI_SUM, w, &r[ALLREDUCE]);
    MPI_Ireduce_scatter(out, in[REDUCE_SCATTER], ones, MPI_INT, MPI_SUM, w,
                        &r[REDUCE_SCATTER]);
    MPI_Ireduce_scatter_block(out, in[REDUCE_SCATTER_BLOCK], 1, MPI_INT,
                              MPI_SUM, w, &r[REDUCE_SCATTER_BLOCK]);
    MPI_Iscan(out, in[SCAN], 1, MPI_INT, MPI_SUM, w, &r[SCAN]);
    MPI_Iexscan(out, in[EXSCAN], 1, MPI_INT, MPI_SUM, w, &r[EXSCAN]);
}

static void begin(void)
{
    memset(in, 0, sizeof in);
    blocks_out(out);
    in[BCAST][0] = this_rank == 1 ? 42 : 0;
    begin_moves(MPI_COMM_WORLD, requests);
    begin_reductions(MPI_COMM_WORLD, requests);
}

static void check_moves(void)
{
    CHECK(in[BCAST][0] == 42);
    if (this_rank == 0) {
        CHECK(firsts_are_in(in[GATHER]) && firsts_are_in(in[GATHERV]));
    }
    CHECK(in[SCATTER][0] == block(0, this_rank));
    CHECK(in[SCATTERV][0] == block(0, this_rank));
    CHECK(firsts_are_in(in[ALLGATHER]) && firsts_are_in(in[ALLGATHERV]));
    CHECK(blocks_are_in(in[ALLTOALL]) && blocks_are_in(in[ALLTOALLV]));
    CHECK(blocks_are_in(in[ALLTOALLW]));
}

static void check_reductions(void)
{
    const int sum = block(0, 0) + block(1, 0);
    const int own = block(0, this_rank) + block(1, this_rank);

    CHECK(this_rank != 0 || in[REDUCE][0] == sum);
    CHECK(in[ALLREDUCE][0] == sum);
    CHECK(in[REDUCE_SCATTER][0] == own && in[REDUCE_SCATTER_BLOCK][0] == own);
    CHECK(in[SCAN][0] == (this_rank == 0 ? block(0, 0) : sum));
    CHECK(this_rank == 0 || in[EXSCAN][0] == block(0, 0));
}

static void end(void)
{
    MPI_Waitall(PLAIN_COLLECTIVES, requests, MPI_STATUSES_IGNORE);
    check_moves();
    check_reductions();
}

const struct section nonblocking_section = {"nonblocking", begin, end};
