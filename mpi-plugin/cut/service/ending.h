/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ending.h - how this rank's part in a checkpoint ends. Context of all: any place that answers
 * the agent, with the plugin's lock.
 */
#ifndef CKPT_ENDING_H
#define CKPT_ENDING_H

#include "ckpt/wire.h"

/* Leaves the present checkpoint: the gate opens. */
void ckpt_checkpoint_leave(void);

/* RESUME. */
void ckpt_checkpoint_over(const struct ckpt_message *message);

/* Handles the loss of the agent. The present checkpoint is off; a new agent serves
 * the next request. But if other ranks may have been cut and this one not, the gate
 * stays shut until the new agent knows (docs/consistent-cuts.md, section 1). */
void ckpt_agent_lost(void);

#endif
