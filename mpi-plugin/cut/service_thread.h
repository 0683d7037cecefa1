/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service_thread.h - who answers the agent where several threads may be in MPI
 * at once (runtime/lane.h): a thread of our own.
 *
 * It is the leader of each checkpoint, and never in a call of the application.
 * So the others need not be signalled to answer; they find the lock taken.
 */
#ifndef CKPT_SERVICE_THREAD_H
#define CKPT_SERVICE_THREAD_H

#include "ckpt/failure.h"

/* Makes the thread, which attaches this rank first; able: it can be saved, else
 * `reason` says why not. Context: normal, all ranks at once. */
void ckpt_service_thread_start(int able, const struct ckpt_failure *reason);

/* After a restart, on the thread: it has another id. Context: quiesced. */
void ckpt_service_thread_restarted(void);

/* Ends it, in MPI_Finalize. Context: normal. */
void ckpt_service_thread_end(void);

/* service.c, for the thread: attaches (0: no checkpoints for this rank); and
 * answers what has come. The latter returns how many milliseconds there is
 * nothing to do unless a message comes, -1: for ever, -2: this is the end. */
int ckpt_service_attach(int able, const struct ckpt_failure *reason);
int ckpt_service_turn(void);

#endif
