/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending.h - operations under way, each with the act before which it must be
 * completed. All the ways of MPI to complete requests are used.
 */
#ifndef EVENTS_PENDING_H
#define EVENTS_PENDING_H

#include "communicators.h"

#define NEVER UINT64_MAX /* due: other code completes it */

struct operation {
    MPI_Request request;
    void *data; /* buffer, freed on completion */
    /* Called on completion; may be NULL. */
    void (*done)(const struct operation *operation, const MPI_Status *status);
    uint64_t due;    /* the act before which it must be completed */
    uint64_t order;  /* see struct event */
    uint64_t number; /* of a collective */
    enum communicator comm;
    int root; /* of a collective, see struct event */
    int rows; /* of a collective: received clocks */
};

/* Adds an operation; there must be room. */
void pending_add(const struct operation *operation);

/* Completes the operations that are due before act `act`, and older ones until
 * there is room for `room` more. */
void pending_complete(uint64_t act, int room, uint64_t random);

/* Completes the operations on a communicator. */
void pending_complete_on(enum communicator comm, uint64_t random);

/* Completes all. */
void pending_complete_all(uint64_t random);

/* Handles complete operations without a due act; returns how many are not
 * complete. */
int pending_test_undue(void);

#endif
