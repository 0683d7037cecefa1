/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.h - the vector clock of a rank, and the file with all its events.
 *
 * After Mattern (1989): entry j of rank i's clock is the number of events of
 * rank j that happened before the next event of rank i. The file events.RANK
 * has a record for each event, in order, written at once by one system call. A
 * restart rolls the file back to the rank's cut, so the file itself shows which
 * events are before the cut. The sending of a message is logged before the MPI
 * call, and its receipt after MPI has reported it; the cut may be anywhere in
 * between. tests/ckpttest/events.py reads the files.
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
    uint64_t number; /* of the message in its channel (sender, receiver,
                        communicator, tag), or of the collective on comm */
    uint64_t order;  /* receipts: order of posting */
    uint32_t kind;
    int32_t peer; /* in MPI_COMM_WORLD; of a collective, the rank that others
                     hear from, or -1: all from all */
    int32_t comm; /* enum communicator */
    int32_t tag;
    uint32_t damaged; /* content or status is wrong */
    uint32_t bytes;
};

extern int world_rank, world_size;

/* Creates this rank's file, in the working directory. */
void log_open(void);
void log_close(void);

/* Returns the clock for a message that is about to be sent: world_size
 * words. */
const uint64_t *log_clock(void);

/* Logs an event; `clock` came with the message, or is NULL. */
void log_event(struct event event, const uint64_t *clock);

#endif
