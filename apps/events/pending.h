/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - operations that are under way, and the act by which each is
 * waited for. They are completed in all the ways that MPI has.
 */
#ifndef EVENTS_PENDING_H
#define EVENTS_PENDING_H

#include "communicators.h"

#define NEVER UINT64_MAX /* due: somebody else sees to it */

struct operation {
    MPI_Request request;
    void *data; /* buffer, freed when it is done */
    /* Called when it is complete; NULL if nobody cares. */
    void (*done)(const struct operation *operation, const MPI_Status *status);
    uint64_t due;    /* the act before which it is waited for */
    uint64_t order;  /* see struct event */
    uint64_t number; /* of a collective */
    enum communicator comm;
    int root; /* of a collective, see struct event */
    int rows; /* of a collective: clocks that are heard */
};

/* Puts one in; there must be room. */
void pending_add(const struct operation *operation);

/* Completes what is due before act `act`, and older ones until there is room
 * for `room` more. */
void pending_complete(uint64_t act, int room, uint64_t random);

/* Completes those on a communicator. */
void pending_complete_on(enum communicator comm, uint64_t random);

/* Completes all. */
void pending_complete_all(uint64_t random);

/* Takes note of those without a due act that are complete; how many are not. */
int pending_test_undue(void);

#endif
