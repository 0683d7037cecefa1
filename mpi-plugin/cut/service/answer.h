/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answer.h - what this rank does at the agent's orders. Context of all: as a
 * service (cut/service/service.c), with the plugin's lock.
 */
#ifndef CKPT_ANSWER_H
#define CKPT_ANSWER_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "task/threads.h"

/* Obeys a message while no thread is inside a call of the lower half. */
void ckpt_obey(const struct ckpt_message *message);

/* Obeys REQUEST, wherever the rank is: closes the gate, or refuses the
 * checkpoint. */
void ckpt_answer_request(const struct ckpt_message *message);

/* Obeys CUT if this rank was already cut for that epoch: answers the agent and
 * returns 1. Else returns 0. Context: as ckpt_rank_cut_cut. */
int ckpt_is_cut(const struct ckpt_message *message);

/* Returns 0, or -EAGAIN with the reason why this rank cannot be cut although all
 * ranks are aligned. */
int ckpt_cut_refused(struct ckpt_failure *failure);

/* Writes this rank's message counters to the rank page, for the agent to
 * compare. */
void ckpt_publish_counters(void);

/*
 * Describes this process to the agent, and waits until the agent has saved it.
 * context: where a restart goes on. Returns 0 if the agent has what it needs, or
 * -errno if the rank was not saved (the agent knows why). Freezes the other
 * threads and thaws them.
 */
int ckpt_save_as(struct ckpt_context *context);

#endif
