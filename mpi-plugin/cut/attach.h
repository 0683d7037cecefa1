/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attach.h - introduce this rank to its node agent (docs/protocol.md,
 * sections 1 and 3).
 */
#ifndef CKPT_ATTACH_H
#define CKPT_ATTACH_H

#include "ckpt/failure.h"

#include <stdint.h>

/*
 * Connects, says HELLO and tells the agent which agent coordinates, that of
 * rank 0. collective: all ranks attach at once and learn the coordinator's
 * address; else it is the one known. A rank that fails still takes part.
 * epoch: that of the agent. Returns 0 or -errno. Context: place for lower-half
 * calls; quiesced after a restart.
 */
int ckpt_attach(int collective, uint64_t *epoch, struct ckpt_failure *failure);

/* The agent's process. Context: any. */
int ckpt_agent_pid(void);

/* The kernel's id of the thread that the agent's signals go to. Context: any. */
int ckpt_attached_thread(void);

/* The signal that a checkpoint uses. Context: normal or quiesced. */
int ckpt_checkpoint_signal(void);

#endif
