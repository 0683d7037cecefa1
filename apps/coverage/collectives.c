/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - blocking collectives that move data, on a communicator that
 * is made before the gate.
 */
#include "blocks.h"

static MPI_Comm comm;

static void begin(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
}

static void check_rooted(void)
{
    int out[RANKS], in[RANKS] = {-1, -1}, value = this_rank == 1 ? 42 : 0;

    blocks_out(out);
    MPI_Bcast(&value, 1, MPI_INT, 1, comm);
    CHECK(value == 42);
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, comm);
    CHECK(this_rank != 0 || firsts_are_in(in));
    MPI_Gatherv(out, 1, MPI_INT, in, ones, places, MPI_INT, 1, comm);
    CHECK(this_rank != 1 || firsts_are_in(in));
    MPI_Scatter(out, 1, MPI_INT, &value, 1, MPI_INT, 0, comm);
    CHECK(value == block(0, this_rank));
    MPI_Scatterv(out, ones, places, MPI_INT, &value, 1, MPI_INT, 1, comm);
    CHECK(value == block(1, this_rank));
}

static void check_all(void)
{
    int out[RANKS], in[5][RANKS] = {{0}};

    blocks_out(out);
    MPI_Allgather(out, 1, MPI_INT, in[0], 1, MPI_INT, comm);
    MPI_Allgatherv(out, 1, MPI_INT, in[1], ones, places, MPI_INT, comm);
    CHECK(firsts_are_in(in[0]) && firsts_are_in(in[1]));
    MPI_Alltoall(out, 1, MPI_INT, in[2], 1, MPI_INT, comm);
    MPI_Alltoallv(out, ones, places, MPI_INT, in[3], ones, places, MPI_INT,
                  comm);
    MPI_Alltoallw(out, ones, offsets, ints, in[4], ones, offsets, ints, comm);
    for (int i = 2; i < 5; i++) {
        CHECK(blocks_are_in(in[i]));
    }
}

static void end(void)
{
    check_rooted();
    check_all();
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

const struct section collectives_section = {"collectives", begin, end};
