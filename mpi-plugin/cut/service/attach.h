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
 * Connects, sends HELLO, and tells the agent the coordinator's address (the
 * agent of rank 0 coordinates). collective: all ranks attach at once and learn
 * that address; else the address is already known. A rank that fails still
 * takes part in the collective. epoch: receives the agent's epoch. Returns 0 or
 * -errno. Context: place for lower-half calls; quiesced after a restart.
 */
int ckpt_attach(int collective, uint64_t *epoch, struct ckpt_failure *failure);

/*
 * In a new world of a living process: keeps the connection and the agent that it has, and makes the
 * collective calls of ckpt_attach(1), which restarted ranks of that world make. The launch keeps
 * its name. Returns 0 or -errno with a reason. Context: quiesced.
 */
int ckpt_attach_in_new_world(struct ckpt_failure *failure);

/* The agent's process id. Context: any. */
int ckpt_agent_pid(void);

/* The kernel's id of the thread that receives the agent's signals. Context:
 * any. */
int ckpt_attached_thread(void);

/* The number of the checkpoint signal. Context: normal or quiesced. */
int ckpt_checkpoint_signal(void);

#endif
