/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator.h - communicators: members, counters, clock, message log.
 */
#ifndef CKPT_COMMUNICATOR_H
#define CKPT_COMMUNICATOR_H

#include "ckpt/wire.h"
#include "handles/handles.h"

struct ckpt_topology;
struct ckpt_log_entry;

struct ompi_communicator_t {
    struct ckpt_handle handle;
    int rank;                         /* in the local group */
    int size;                         /* of the local group */
    int peers;                        /* receivers: size, or the remote size */
    int inter;                        /* 1: intercommunicator */
    uint64_t id;                      /* agreed by all members; orders the replay */
    MPI_Comm channel;                 /* lower: for messages of the present colour */
    MPI_Comm channels[2];             /* lower, by colour: handles/channels.h */
    struct ckpt_clock *clock;         /* in the rank page; private if alone */
    uint32_t slot;                    /* index of the clock, or UINT32_MAX */
    int foreign;                      /* 1: has members outside MPI_COMM_WORLD */
    int unclocked;                    /* 1: it has no id, or no clock slot was left */
    uint64_t *sent;                   /* [peers] messages sent */
    uint64_t *received;               /* [peers] messages received or logged */
    int *local_members;               /* [size] ranks in MPI_COMM_WORLD */
    int *members;                     /* [peers] the same for the peers (== local_members
                                         for an intracommunicator) */
    struct ckpt_log_entry *log_first; /* drained messages, oldest first */
    struct ckpt_log_entry *log_last;
    struct ckpt_topology *topology; /* what the lower half needs, or NULL */
    MPI_Errhandler errhandler;
    uint64_t twins;     /* duplications begun: ckpt_communicator_twin */
    MPI_Request making; /* lower: of a twin's second channel, or NULL */
    int hinted;         /* equal on all members: handles/hints.h */
    char *hints;        /* pairs as in handles/info.h, or NULL */
    size_t hints_size;
    struct ckpt_made *made; /* partitioned transfers on it: cut/messages/partition.c */
};

/* Names one transfer (cut/messages/partition.h): the same at both ends. */
struct ckpt_partition_transfer {
    uint64_t communicator; /* its id */
    int32_t sender;        /* rank in the communicator */
    int32_t tag;
    uint32_t nth;   /* number among those with equal values above */
    uint32_t round; /* number of starts */
};

/* How many requests exist on a communicator for one sender and tag. Both ends count
 * alike for the life of the communicator, whose id is unique. */
struct ckpt_made {
    struct ckpt_made *next;
    struct ckpt_partition_transfer transfer; /* nth: of the next request */
    int peer;
    int sends;
};

/* Cartesian or graph structure, as passed to the call that made it. */
struct ckpt_topology {
    int kind;      /* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH */
    int weighted;  /* MPI_DIST_GRAPH */
    int counts[2]; /* CART: dimensions; GRAPH: nodes, edges; DIST_GRAPH: in, out */
    size_t size;   /* bytes of this allocation */
    int data[];    /* CART: dims, periods; GRAPH: index, edges;
                      DIST_GRAPH: sources, weights, destinations, weights */
};

/* Results of the steps that all members take together when a communicator is
 * made. Filled inside the collective, with lower-half calls only. */
struct ckpt_new_communicator {
    MPI_Comm lower;
    MPI_Comm second; /* handles/channels.h */
    uint64_t id;
};

/*
 * Agrees on an id for the new lower communicator. Runs with the lower thread
 * pointer; collective over its members. Returns an MPI error code.
 */
int ckpt_communicator_agree(struct ckpt_new_communicator *fresh);

/*
 * Returns the object for a communicator that was just made (MPI_COMM_NULL for
 * the null one). parent: the communicator whose error handler it inherits, or
 * NULL. Context: normal, between ckpt_begin and ckpt_end.
 */
MPI_Comm ckpt_communicator_adopt(const struct ckpt_new_communicator *fresh,
                                 MPI_Comm parent, const char *creator,
                                 void *site);

/*
 * Returns the object of a duplicate of `comm` that a nonblocking call is
 * making. It has its id and clock, but no lower handle, and is not in the live
 * list. All members call this in the same order. NULL: out of memory. Context:
 * normal, between ckpt_begin and ckpt_end.
 */
MPI_Comm ckpt_communicator_twin(MPI_Comm comm, const char *creator, void *site);

/* Puts the twin into the live list when it is made. Context: place for
 * lower-half calls. */
void ckpt_communicator_twin_made(MPI_Comm twin);

/*
 * Makes a communicator of all ranks for internal messages. The application
 * cannot see it; a cut treats it like the application's own. Collective, once
 * for each job. Context: normal, between ckpt_begin and ckpt_end. Returns an
 * MPI error code.
 */
int ckpt_communicator_hidden(MPI_Comm *comm);

/* Makes a lower duplicate of a predefined communicator for internal messages,
 * which returns its errors; collective. Returns an MPI error code. Context:
 * place for lower-half calls. */
int ckpt_communicator_private(MPI_Comm comm, MPI_Comm *lower);

/* Completes MPI_COMM_WORLD and MPI_COMM_SELF after the lower half started. */
void ckpt_communicators_open(void);

/* Drops the application's reference (MPI_Comm_free). */
void ckpt_communicator_release(MPI_Comm communicator);

/* Makes the communicator in a new lower half. The caller rebuilds them in order
 * of id. Context: quiesced. Returns 0 or an MPI error code. */
int ckpt_communicator_rebuild(MPI_Comm communicator);

/* Sums the counters of all communicators, per rank of MPI_COMM_WORLD. */
void ckpt_communicators_count(struct ckpt_peer *peers, int rank_count);

/* Returns 1 for a communicator object of ours that is not null. */
static inline int ckpt_communicator_valid(MPI_Comm communicator)
{
    return communicator != NULL && communicator->clock != NULL;
}

#endif
