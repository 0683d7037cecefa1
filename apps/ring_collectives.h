/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_collectives.h - every collective operation of MPI, checked.
 */
#ifndef RING_COLLECTIVES_H
#define RING_COLLECTIVES_H

#include <mpi.h>

#include <stdint.h>

#define MAX_RANKS 16 /* in a communicator */

/* The place and time of a call of a collective operation. */
struct place {
    MPI_Comm comm;
    int rank;
    int size;
    uint64_t step; /* decides data and roots */
};

/* The number of collective operations; blocking and nonblocking forms count
 * separately. */
int collective_count(void);

/* Calls one of them, checks every element of its result, and returns a checksum
 * of the data that this rank received. */
uint64_t run_collective(int which, const struct place *place);

#endif
