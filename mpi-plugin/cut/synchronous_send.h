/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.h - a synchronous send completes when it is received, also
 * if a checkpoint has taken its message into a log (MPI 3.1, section 3.4).
 *
 * A drain, or the intake of an open rank, receives the message below, so the
 * lower half reports the send as complete. Therefore a rank that stops, or is
 * cut, *holds* each synchronous send that is under way, and asks the receiver
 * about it. When that has all messages of before the cut it either finds the
 * message in its log and answers when the application receives it, or knows
 * that a receive has matched it and answers then. Questions and answers are
 * messages on a hidden communicator, which have a colour and are counted,
 * drained and logged like all others: a question belongs to its sender's old
 * epoch. So after a restart each of them is in some rank's memory or log.
 *
 * What completes below before this rank's own cut: cut/withhold.h.
 */
#ifndef CKPT_SYNCHRONOUS_SEND_H
#define CKPT_SYNCHRONOUS_SEND_H

#include "ckpt/wire.h"
#include "handles/request.h"

struct ckpt_log_entry;

/* Synchronous sends under way. */
extern int ckpt_synchronous_pending __attribute__((visibility("hidden")));

/* 1 from this rank's first one on: cut/withhold.h. */
extern int ckpt_synchronous_used __attribute__((visibility("hidden")));

/* A synchronous send has been started, or is no longer of interest. Context:
 * between ckpt_begin and ckpt_end. */
void ckpt_synchronous_started(MPI_Request request);
void ckpt_synchronous_ended(MPI_Request request);

/* Another message was sent: it comes after those that are under way. */
void ckpt_synchronous_later(MPI_Comm comm, int peer, int tag);

/* Makes the communicator for questions and answers; once, collective over
 * MPI_COMM_WORLD. Context: normal, between ckpt_begin and ckpt_end. Returns an
 * MPI error code. */
int ckpt_synchronous_open(void);

/* STOP, or the cut: holds what is under way, and asks. epoch: of this attempt.
 * Context: place for lower-half calls, before messages are counted. */
void ckpt_synchronous_hold(uint64_t epoch);

/* SAVE, or the cut: the holds stay until they are answered. Without it they end
 * with the attempt: some receiver may never have been asked. */
void ckpt_synchronous_keep(void);
void ckpt_synchronous_release(void);

/* Receives questions and answers that have arrived. Context: as above. 0, -ENOMEM, or
 * -EIO if one could not be received, or one of this attempt not sent. */
int ckpt_synchronous_receive(void);

/* Finds the messages of this attempt that were asked for by ranks all of whose
 * messages of before the cut are here. has_all: tells if that is so of a rank
 * of MPI_COMM_WORLD; NULL: of all. */
void ckpt_synchronous_match(uint64_t epoch, int (*has_all)(int rank));

/* The application receives a logged message that a sender waits for. */
void ckpt_synchronous_consumed(const struct ckpt_log_entry *entry);

/* After the cut: answers what has been found to be received. */
void ckpt_synchronous_answer(void);

/* After a restart, when the logs have been loaded: looks at questions that
 * crossed the cut `epoch`. 1 if there is something to answer. Context:
 * quiesced. */
int ckpt_synchronous_restarted(uint64_t epoch);

#endif
