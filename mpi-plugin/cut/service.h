/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.h - the rank's part in a Sync-and-Stop checkpoint (Plank 1993,
 * section 2.4; messages: ckpt/wire.h).
 */
#ifndef CKPT_SERVICE_H
#define CKPT_SERVICE_H

#include "ckpt/failure.h"

/* Connects to the agent and makes this process checkpointable. A failure is
 * told once on stderr; the program runs on without checkpoints. Context:
 * normal. */
void ckpt_service_open(void);

/* MPI_Finalize: no more checkpoints. */
void ckpt_service_close(void);

/* In the child of a fork: it takes no part in checkpoints. Context: normal. */
void ckpt_service_forget(void);

/* After a restart: connects to the new launch's agent. Context: quiesced. */
int ckpt_service_reopen(struct ckpt_failure *failure);

/* A thread that may call MPI keeps the lower half working, and answers the agent.
 * Context: normal, outside of calls. */
void ckpt_service_progress(void);

/* 1 if this rank takes part in checkpoints, and none is under way. Context:
 * normal. */
int ckpt_service_is_free(void);

/* 1 for descriptors that belong to the lower half or to us. Context: any. */
int ckpt_service_owns_descriptor(int fd);

#endif
