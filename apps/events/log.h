/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - the vector clock of a rank, and the file with all its events.
 *
 * After Mattern (1989): entry j of rank i's clock is how many events of rank j
 * are known to have happened before what rank i does next. The file events.RANK
 * has a record for each event, in order, written at once by one system call: a
 * restart puts the file back to what it was at the rank's cut, so that it shows
 * itself which events lie before. A message's sending is an event before MPI is
 * called, its receipt one after MPI has said so; in between is the cut's
 * business. tests/ckpttest/events.py reads the files.
 */
#ifndef EVENTS_LOG_H
#define EVENTS_LOG_H

#include "selfcheck.h"

#define MAX_RANKS 32

enum event_kind {
    EVENT_SENT = 1, /* about to be sent */
    EVENT_RECEIVED, /* complete, as MPI says */
    EVENT_ENTERED,  /* about to enter a collective */
    EVENT_LEFT      /* the collective is complete */
};

/* A record, followed by the clock after the event: a word for each rank. */
struct event {
    uint64_t time;   /* of CLOCK_REALTIME, ns; set by log_event */
    uint64_t number; /* of the message in its channel: sender, receiver,
                        communicator, tag; of the collective on comm */
    uint64_t order;  /* receipts rise with it as their receives were posted */
    uint32_t kind;
    int32_t peer; /* in MPI_COMM_WORLD; of a collective, the rank that others
                     hear from, or -1: all from all */
    int32_t comm; /* enum communicator */
    int32_t tag;
    uint32_t damaged; /* not what was sent, or not as MPI said */
    uint32_t bytes;
};

extern int world_rank, world_size;

/* Begins this rank's file, in the working directory. */
void log_open(void);
void log_close(void);

/* The clock, for a message that is about to be sent: world_size words. */
const uint64_t *log_clock(void);

/* Notes an event; clock is what came with the message, or NULL. */
void log_event(struct event event, const uint64_t *clock);

#endif
