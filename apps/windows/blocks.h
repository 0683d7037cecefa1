/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - things with numbers from 0, dealt out to the ranks in blocks.
 *
 * Rank r has those from blocks_first(r) on, up to where r + 1 begins; the
 * sizes of two blocks differ by one at most.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

/* The first thing of a rank; for rank `ranks`, how many there are. */
static inline long blocks_first(long things, int ranks, int rank)
{
    return things / ranks * rank +
           (rank < things % ranks ? rank : things % ranks);
}

static inline long blocks_count(long things, int ranks, int rank)
{
    return blocks_first(things, ranks, rank + 1) -
           blocks_first(things, ranks, rank);
}

/* The largest of all blocks. */
static inline long blocks_largest(long things, int ranks)
{
    return (things + ranks - 1) / ranks;
}

/* The rank that has a thing. */
static inline int blocks_owner(long things, int ranks, long thing)
{
    int rank = (int)(thing / blocks_largest(things, ranks));

    while (blocks_first(things, ranks, rank + 1) <= thing) {
        rank++;
    }
    return rank;
}

#endif
