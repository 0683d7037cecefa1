/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.h - how many partners a collective on a communicator has: lengths
 * of arrays that no argument tells.
 */
#ifndef CKPT_ADAPT_TOPOLOGY_H
#define CKPT_ADAPT_TOPOLOGY_H

/* comm: as Open MPI's handle. 0 if it is no communicator.
 * Context of all: any (lower half). */
int adapt_peers(const void *comm);
int adapt_in_degree(const void *comm);
int adapt_out_degree(const void *comm);

/* How many processes MPI_Comm_spawn_multiple starts: at the root; elsewhere 0,
 * as its arguments do not count there. */
int adapt_spawned(const void *comm, int root, int count, const int maxprocs[]);

#endif
