/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * synchronous_send.h - a synchronous send completes when it is received, also
 * if a checkpoint has drained its message (MPI 3.1, section 3.4).
 *
 * A drain receives the message below, so the lower half reports the send as
 * complete. Therefore a rank that stops *holds* each synchronous send that is
 * under way, and asks the receiver about it. At the end of its drain the
 * receiver either finds the message in its log and answers when the application
 * receives it, or knows that a receive has matched it and answers after the
 * cut. Questions and answers are messages on a communicator of our own, counted
 * and drained like all others.
 */
#ifndef CKPT_SYNCHRONOUS_SEND_H
#define CKPT_SYNCHRONOUS_SEND_H

#include "ckpt/wire.h"
#include "handles/request.h"

struct ckpt_log_entry;

/* Synchronous sends under way. */
extern int ckpt_synchronous_pending __attribute__((visibility("hidden")));

/* 1 if there ever was one, or if one was announced. */
int ckpt_synchronous_used(void);
void ckpt_synchronous_announce(void);

/* A synchronous send has been started, or is no longer of interest. Context:
 * between ckpt_begin and ckpt_end. */
void ckpt_synchronous_started(MPI_Request request);
void ckpt_synchronous_ended(MPI_Request request);

/* Another message was sent: it comes after those that are under way. */
void ckpt_synchronous_later(MPI_Comm comm, int peer, int tag);

/* Makes the communicator for questions and answers; once for each lower half,
 * collective over MPI_COMM_WORLD. Returns an MPI error code. */
int ckpt_synchronous_open(void);

/* STOP: holds what is under way, and asks. epoch: of this attempt. Context:
 * place for lower-half calls, before the counters are published. 0 or -ENOMEM. */
int ckpt_synchronous_hold(uint64_t epoch);

/* SAVE: all ranks have drained, the holds stay until they are answered. Without
 * it they end with the attempt: some receiver may never have been asked. */
void ckpt_synchronous_keep(void);
void ckpt_synchronous_release(void);

/* Adds what was sent and received here, per rank of MPI_COMM_WORLD. */
void ckpt_synchronous_counters(struct ckpt_peer *peers, int rank_count);

/* Receives questions and answers that have arrived. Context: as above. 0 or
 * -ENOMEM. */
int ckpt_synchronous_receive(void);

/* All messages are drained: finds those of this attempt that were asked for. */
void ckpt_synchronous_match(uint64_t epoch);

/* The application receives a logged message that a sender waits for. */
void ckpt_synchronous_consumed(const struct ckpt_log_entry *entry);

/* After the cut: answers what has been found to be received. */
void ckpt_synchronous_answer(void);

#endif
