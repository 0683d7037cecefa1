/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interval.h - this rank's intervals and its vector time (Sultan 2004, sections 4.2.1 and
 * 4.3.2).
 *
 * An interval ends with each call that synchronises and with each atomic operation, also
 * if nothing was written in it. It ends in steps, so that a rank that is killed can be
 * replayed up to its last one, whatever it was about to do:
 *
 *   1. what it delivers is marked in the log with its number; what came is logged;
 *   2. it is *published*: one store into the log, from which on it has happened;
 *   3. what it delivers is brought into the memory of targets, which can be repeated;
 *   4. the page tells that it is closed: others may rely on it.
 */
#ifndef CKPT_INDEPENDENT_INTERVAL_H
#define CKPT_INDEPENDENT_INTERVAL_H

#include "independent/page.h"
#include "independent/volatile_log.h"

#pragma GCC visibility push(hidden)

/* This rank's log; NULL: it has none, as the job takes no independent checkpoints. */
extern struct ckpt_volatile_log *ckpt_log;

/* Its vector time, by rank of MPI_COMM_WORLD; its own component is the number of the last
 * interval that it has closed. */
extern uint64_t *ckpt_time;
extern int ckpt_time_rank;  /* which is its own */
extern int ckpt_time_count; /* components */

/* Makes the logs of all ranks; collective over MPI_COMM_WORLD. Between begin and end.
 * Returns an MPI error code. */
int ckpt_interval_open(int rank, int rank_count);

/* The log of a rank of MPI_COMM_WORLD. */
struct ckpt_volatile_log *ckpt_log_of(int rank);

/* The number of the interval that is open. */
static inline uint64_t ckpt_interval_now(void)
{
    return ckpt_time[ckpt_time_rank] + 1;
}

/* Steps 2 and 4. */
void ckpt_interval_publish(void);
void ckpt_interval_close(void);

/*
 * The other half of a call that waits for others: the vector time becomes what all have
 * closed by now, which is logged, and another interval ends. What they have delivered by
 * then is what this rank may read from now on. (Each rank's own count is read in the page;
 * that is never less than what a message from it would bring.)
 */
void ckpt_interval_acquire(void);

/* An event of the open interval, of `bytes` to be filled in; then it is logged. NULL: the
 * log is full, and this rank, as the page tells, cannot be replayed. */
struct ckpt_log_record *ckpt_event_reserve(enum ckpt_log_kind kind, size_t bytes);
void ckpt_event_commit(const struct ckpt_log_record *event);

static inline void *ckpt_event_bytes(struct ckpt_log_record *event)
{
    return event + 1;
}

/* What a test said: an event of its own, or the one before once more. */
void ckpt_event_answer(int answer);

/* An event could not be logged: this rank cannot be replayed before it has been saved
 * anew. */
void ckpt_interval_lost(void);

#pragma GCC visibility pop

#endif
