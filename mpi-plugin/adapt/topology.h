/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.h - the number of partners of a collective: array lengths that no
 * argument gives.
 */
#ifndef CKPT_ADAPT_TOPOLOGY_H
#define CKPT_ADAPT_TOPOLOGY_H

/* comm: Open MPI's handle. Return 0 for a handle that is not a communicator.
 * Context of all: any (lower half). */
int adapt_peers(const void *comm);
int adapt_in_degree(const void *comm);
int adapt_out_degree(const void *comm);

/* Returns how many processes MPI_Comm_spawn_multiple starts; 0 on ranks other
 * than the root, where its arguments are ignored. */
int adapt_spawned(const void *comm, int root, int count, const int maxprocs[]);

#endif
