/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interval.h - this rank's intervals and its vector time (Sultan 2004, sections 4.2.1 and
 * 4.3.2).
 *
 * An interval ends with each call that synchronises and with each atomic operation, even
 * without a write. It ends in steps, so that a killed rank can be replayed up
 * to its last step, whatever its next one was:
 *
 *   1. the records it delivers get its number in the log, and what it received is logged;
 *   2. it is *published* by one store into the log: from then on it has happened;
 *   3. its records are applied to the memory of targets, which can be repeated;
 *   4. the shared page shows that it is closed: other ranks may rely on it.
 */
#ifndef CKPT_INDEPENDENT_INTERVAL_H
#define CKPT_INDEPENDENT_INTERVAL_H

#include "independent/log/volatile_log.h"
#include "independent/page.h"

#pragma GCC visibility push(hidden)

/* This rank's log; NULL: it has none, as the job takes no independent checkpoints. */
extern struct ckpt_volatile_log *ckpt_log;

/* The rank's vector time, by rank of MPI_COMM_WORLD. Its own component is the number of
 * the last interval that it has closed. */
extern uint64_t *ckpt_time;
extern int ckpt_time_rank;  /* the rank's own component */
extern int ckpt_time_count; /* components */

/* Makes the logs of all ranks; collective over MPI_COMM_WORLD. Between begin and end.
 * Returns an MPI error code. */
int ckpt_interval_open(int rank, int rank_count);

/* Returns the log of a rank of MPI_COMM_WORLD. */
struct ckpt_volatile_log *ckpt_log_of(int rank);

/* Returns the number of the open interval. */
static inline uint64_t ckpt_interval_now(void)
{
    return ckpt_time[ckpt_time_rank] + 1;
}

/* Steps 2 and 4 of the end of an interval. */
void ckpt_interval_publish(void);
void ckpt_interval_close(void);

/*
 * Makes the second half of a call that waits for others. The vector time takes over the
 * intervals that all ranks have closed by now, which is logged, and another interval ends.
 * From now on this rank may read what they have delivered by then. (Each rank's own count
 * is read in the shared page; it is never less than a message from that rank would carry.)
 */
void ckpt_interval_acquire(void);

/* Reserves an event of the open interval, with `bytes` to fill; _commit logs it. Returns
 * NULL if the log is full: then the shared page shows that this rank cannot be
 * replayed. */
struct ckpt_log_record *ckpt_event_reserve(enum ckpt_log_kind kind, size_t bytes);
void ckpt_event_commit(const struct ckpt_log_record *event);

static inline void *ckpt_event_bytes(struct ckpt_log_record *event)
{
    return event + 1;
}

/* Logs the result of a test: as a new event, or as a repetition of the event before. */
void ckpt_event_answer(int answer);

/* Called when an event could not be logged: this rank cannot be replayed before its next
 * checkpoint. */
void ckpt_interval_lost(void);

#pragma GCC visibility pop

#endif
