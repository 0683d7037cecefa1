/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - arguments of the collectives: one int to and from each rank.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

#include "coverage.h"

static const int ones[RANKS] = {1, 1}, places[RANKS] = {0, 1};
static const int offsets[RANKS] = {0, sizeof(int)};
static const MPI_Datatype ints[RANKS] = {MPI_INT, MPI_INT};

/* The number that rank `from` sends to rank `to`. */
static inline int block(int from, int to)
{
    return 100 * from + to + 7;
}

static inline void blocks_out(int *out)
{
    for (int i = 0; i < RANKS; i++) {
        out[i] = block(this_rank, i);
    }
}

/* Checks the result of an exchange between all ranks. */
static inline int blocks_are_in(const int *in)
{
    for (int i = 0; i < RANKS; i++) {
        if (in[i] != block(i, this_rank)) {
            return 0;
        }
    }
    return 1;
}

/* Checks the result of gathering each rank's first block. */
static inline int firsts_are_in(const int *in)
{
    for (int i = 0; i < RANKS; i++) {
        if (in[i] != block(i, 0)) {
            return 0;
        }
    }
    return 1;
}

#endif
