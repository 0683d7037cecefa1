/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicators.h - the communicators of the events. On all except the last
 * three, receivers name the sender.
 */
#ifndef EVENTS_COMMUNICATORS_H
#define EVENTS_COMMUNICATORS_H

#include "log.h"

enum communicator {
    WORLD,
    TWIN,     /* a duplicate of WORLD */
    REVERSED, /* WORLD with its ranks reversed */
    EVEN,     /* its even ranks */
    ODD,      /* its odd ranks */
    WILD,     /* for awaited receives from any source */
    POOL,     /* for standing receives from any source */
    PROBED,   /* for messages without a posted receive */
    COMMUNICATORS
};

#define NAMED_COMMUNICATORS WILD

/* MPI_COMM_NULL if this rank is not a member. */
extern MPI_Comm comms[COMMUNICATORS];

/* Makes them: once, by all ranks. */
void make_communicators(void);
void free_communicators(void);

/* Whether a rank of MPI_COMM_WORLD is a member. */
int is_member(enum communicator comm, int rank);

/* Converts a rank of MPI_COMM_WORLD to a rank in `comm`, and back. Wildcards
 * stay. */
int rank_within(enum communicator comm, int rank);
int rank_in_world(enum communicator comm, int rank);

#endif
