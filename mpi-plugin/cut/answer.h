/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answer.h - what this rank does at the agent's word. Context of all: as a
 * service (cut/service.c), with the plugin's lock.
 */
#ifndef CKPT_ANSWER_H
#define CKPT_ANSWER_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "task/threads.h"

/* Does what a message asks, outside of calls of the lower half. */
void ckpt_obey(const struct ckpt_message *message);

/* REQUEST, wherever the rank is: the gate is closed; or it cannot be saved. */
void ckpt_answer_request(const struct ckpt_message *message);

/* CUT: 1, with the answer, if this rank has been cut for that epoch. Context: as
 * ckpt_epoch_cut. */
int ckpt_is_cut(const struct ckpt_message *message);

/* Why this rank cannot be cut as all are aligned: 0, or -EAGAIN and the reason. */
int ckpt_cut_refused(struct ckpt_failure *failure);

/* This rank's message counters, for the agent to compare. */
void ckpt_publish_counters(void);

/*
 * Describes this process to the agent. context: where a restart goes on.
 * Returns 0 when the agent has what it needs, -errno when the rank was not
 * saved (the agent knows why). Threads are frozen and thawed here.
 */
int ckpt_save_as(struct ckpt_context *context);

#endif
