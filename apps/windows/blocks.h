/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - things numbered from 0, distributed to the ranks in blocks.
 *
 * Rank r has the things from blocks_first(r) up to the start of rank r + 1's;
 * the sizes of two blocks differ by one at most.
 */
#ifndef BLOCKS_H
#define BLOCKS_H

/* Returns the first thing of a rank; for rank `ranks`, the number of things. */
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

/* Returns the size of the largest block. */
static inline long blocks_largest(long things, int ranks)
{
    return (things + ranks - 1) / ranks;
}

/* Returns the rank that has a thing. */
static inline int blocks_owner(long things, int ranks, long thing)
{
    int rank = (int)(thing / blocks_largest(things, ranks));

    while (blocks_first(things, ranks, rank + 1) <= thing) {
        rank++;
    }
    return rank;
}

#endif
