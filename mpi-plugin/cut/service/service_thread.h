/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service_thread.h - a thread of our own that answers the agent where several
 * threads may be in MPI at once (runtime/thread_context.h).
 *
 * This thread is the leader of each checkpoint, and is never in a call of the
 * application. So the other threads need no signal to answer; they find the
 * lock taken.
 */
#ifndef CKPT_SERVICE_THREAD_H
#define CKPT_SERVICE_THREAD_H

#include "ckpt/failure.h"

/* Starts the thread, which attaches this rank first. able: the rank can be
 * saved, else `reason` says why not. Context: normal, all ranks at once. */
void ckpt_service_thread_start(int able, const struct ckpt_failure *reason);

/* Called after a restart, on the thread: its thread id is new. Context:
 * quiesced. */
void ckpt_service_thread_restarted(void);

/* Ends the thread, in MPI_Finalize. Context: normal. */
void ckpt_service_thread_end(void);

/* Functions of service.c for the thread. ckpt_service_attach() attaches; it
 * returns 0 if this rank gets no checkpoints. ckpt_service_turn() answers the
 * messages that have arrived. It returns for how many milliseconds there is
 * nothing to do unless a message comes, -1: for ever, -2: the thread ends. */
int ckpt_service_attach(int able, const struct ckpt_failure *reason);
int ckpt_service_turn(void);

#endif
