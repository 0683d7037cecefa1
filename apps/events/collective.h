/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective.h - collectives that carry the clocks of their members; entering
 * and leaving a collective are events.
 */
#ifndef EVENTS_COLLECTIVE_H
#define EVENTS_COLLECTIVE_H

#include "communicators.h"

enum collective_way {
    ALLREDUCE,
    ALLGATHER,
    IALLREDUCE,
    COLLECTIVE_WAYS
};

/* Each member hears from all; IALLREDUCE is completed before act `due`. */
void collective_all(enum communicator comm, enum collective_way way,
                    uint64_t due);

/* All hear from the root, a rank of MPI_COMM_WORLD; returns the root's word. */
uint64_t collective_from(enum communicator comm, int root, uint64_t word);

/* The same without a word, completed before act `due`. */
void collective_from_later(enum communicator comm, int root, uint64_t due);

#endif
