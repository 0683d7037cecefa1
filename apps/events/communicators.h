/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicators.h - the communicators that the events happen on; all but the
 * last three are for messages whose receiver names the sender.
 */
#ifndef EVENTS_COMMUNICATORS_H
#define EVENTS_COMMUNICATORS_H

#include "log.h"

enum communicator {
    WORLD,
    TWIN,     /* a duplicate of it */
    REVERSED, /* with its ranks in the opposite order */
    EVEN,     /* its even ranks */
    ODD,      /* its odd ranks */
    WILD,     /* for receives from anybody that somebody waits for */
    POOL,     /* for standing receives from anybody */
    PROBED,   /* for messages that nobody expects */
    COMMUNICATORS
};

#define NAMED_COMMUNICATORS WILD

/* MPI_COMM_NULL where this rank is no member. */
extern MPI_Comm comms[COMMUNICATORS];

/* Makes them: once, by all ranks. */
void make_communicators(void);
void free_communicators(void);

/* Whether a rank of MPI_COMM_WORLD is a member. */
int is_member(enum communicator comm, int rank);

/* The rank in `comm` of a rank of MPI_COMM_WORLD, and back. Wildcards stay. */
int rank_within(enum communicator comm, int rank);
int rank_in_world(enum communicator comm, int rank);

#endif
