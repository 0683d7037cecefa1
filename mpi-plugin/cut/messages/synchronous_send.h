/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.h - a synchronous send completes when it is received, even if a
 * checkpoint has taken its message into a log (MPI 3.1, section 3.4).
 *
 * A drain, or the channel recording of an open rank, receives the message below, so the lower
 * half reports the send as complete. Therefore a rank that stops, or is cut, *holds*
 * each synchronous send that is under way, and asks the receiver about it. The
 * receiver waits until it has all messages from before the cut. Then it either finds
 * the message in its log and answers when the application receives it, or knows that
 * a receive has matched it and answers at once. Questions and answers are messages
 * on a hidden communicator. They have a colour and are counted, drained and logged
 * like all others: a question belongs to its sender's old epoch. So after a restart
 * each of them is in some rank's memory or log.
 *
 * cut/collectives/deferred_completion.h handles sends that complete below before this
 * rank's own cut.
 */
#ifndef CKPT_SYNCHRONOUS_SEND_H
#define CKPT_SYNCHRONOUS_SEND_H

#include "ckpt/wire.h"
#include "handles/request.h"

struct ckpt_log_entry;

/* Synchronous sends under way. */
extern int ckpt_synchronous_pending __attribute__((visibility("hidden")));

/* 1 from this rank's first synchronous send on: cut/collectives/deferred_completion.h. */
extern int ckpt_synchronous_used __attribute__((visibility("hidden")));

/* Register a synchronous send when it starts; forget it when it is no longer needed.
 * Context: between ckpt_begin and ckpt_end. */
void ckpt_synchronous_started(MPI_Request request);
void ckpt_synchronous_ended(MPI_Request request);

/* Counts another sent message: it comes after those that are under way. */
void ckpt_synchronous_later(MPI_Comm comm, int peer, int tag);

/* Creates the communicator for questions and answers; once, collective over
 * MPI_COMM_WORLD. Context: normal, between ckpt_begin and ckpt_end. Returns an MPI
 * error code. */
int ckpt_synchronous_open(void);

/* Called at STOP, or at the cut: holds the sends under way, and asks about them.
 * epoch: of this attempt. Context: place for lower-half calls, before messages are
 * counted. */
void ckpt_synchronous_hold(uint64_t epoch);

/* ckpt_synchronous_keep() (at SAVE, or the cut) keeps the holds until they are
 * answered. Without it they end with the attempt: some receiver may never have been
 * asked. */
void ckpt_synchronous_keep(void);
void ckpt_synchronous_release(void);

/* Receives questions and answers that have arrived. Returns 0; -ENOMEM; or -EIO if a
 * message could not be received, or one of this attempt could not be sent. Context:
 * as above. */
int ckpt_synchronous_receive(void);

/* Finds the messages that questions of this attempt mean. It handles a question only
 * when all the asking rank's messages from before the cut are here. has_all: returns
 * whether that holds for a rank of MPI_COMM_WORLD; NULL: for all. */
void ckpt_synchronous_match(uint64_t epoch, int (*has_all)(int rank));

/* Called when the application receives a logged message that a sender waits for. */
void ckpt_synchronous_consumed(const struct ckpt_log_entry *entry);

/* Called after the cut: sends the answers that are due. */
void ckpt_synchronous_answer(void);

/* Called after a restart, when the logs have been loaded: handles the questions that
 * crossed the cut `epoch`. Returns 1 if there is something to answer. Context:
 * quiesced. */
int ckpt_synchronous_restarted(uint64_t epoch);

#endif
