/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.h - the rank's part in a checkpoint (Sync-and-Stop: Plank 1993,
 * section 2.4; messages: ckpt/wire.h).
 */
#ifndef CKPT_SERVICE_H
#define CKPT_SERVICE_H

#include "ckpt/failure.h"

/* Connects to the agent and makes this process checkpointable. Reports a failure
 * once on stderr; the program then runs on without checkpoints. Context:
 * normal. */
void ckpt_service_open(void);

/* Called in MPI_Finalize: this rank takes part in no more checkpoints. */
void ckpt_service_close(void);

/* Called in the child of a fork: the child takes no part in checkpoints. Context:
 * normal. */
void ckpt_service_forget(void);

/* Implement ckpt_service() and ckpt_notice() (runtime/crossing.h). */
void ckpt_service_serve(void);
void ckpt_service_notice(void);

/* After a restart: connects to the new launch's agent. Context: quiesced. */
int ckpt_service_reopen(struct ckpt_failure *failure);

/* Progresses the lower half and answers the agent, on a thread that may call MPI.
 * Context: normal, outside of calls. */
void ckpt_service_progress(void);

/* Returns 1 if this rank takes part in checkpoints, and none is under way.
 * Context: normal. */
int ckpt_service_is_free(void);

#endif
