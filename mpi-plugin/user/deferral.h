/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferral.h - times when the program does not want this rank to be saved: in a
 * no-checkpoint region, or anywhere but at a safe point.
 *
 * A rank that holds a checkpoint takes part in the cut like any other. It only refuses
 * to be saved, *for now*. Then the checkpoint is given up, by the same rules as after
 * every other refusal, so two ranks never wait for each other. The coordinator keeps
 * the request. It tells all ranks that there is a request, and at which of their safe
 * points they must *stay*. It begins again when the ranks that refused can be
 * saved (docs/user-defined.md).
 */
#ifndef CKPT_DEFERRAL_H
#define CKPT_DEFERRAL_H

#include "ckpt/wire.h"

#include <stdint.h>

/* Returns 1 if this rank must not be saved now. Context: any. */
int ckpt_deferral_is_on(void);

/* Returns 1 if a request waits for ranks that hold it. Context: any. */
int ckpt_deferral_is_wanted(void);

/* Returns 1 if a request waits, maybe for this rank: its waits must return now and
 * then. Context: any. */
int ckpt_deferral_matters(void);

/* Tells the agent that this rank holds the checkpoint, and why. Context: any place
 * that answers the agent, or quiesced. */
void ckpt_deferral_refuse(void);

/* Handles HELD and RESUME from the agent. Context: service. */
void ckpt_deferral_told(const struct ckpt_message *message);

/* Sends the application threads' changes to the agent. Context: service. */
void ckpt_deferral_tell(void);

/* Called after an unsuccessful turn of a wait, or when the wait is over. If the rank
 * may be waiting for a rank that stays for this one, the coordinator is told. Context:
 * as ckpt_poll_failed. */
void ckpt_deferral_poll_failed(void);
void ckpt_deferral_wait_over(void);

/* _forget: the agent is lost, and the request with it. _restarted: the process was
 * restored from an image. Context: service; quiesced. */
void ckpt_deferral_forget(void);
void ckpt_deferral_restarted(void);

uint64_t ckpt_deferral_restarts(void);

/* ---- For the program's own threads, in normal context ----------------------- */

void ckpt_deferral_disable(void);
int ckpt_deferral_enable(void);
int ckpt_deferral_safe_point(void);
void ckpt_deferral_only_at_safe_points(int only);

/* Adds `change` to the number of hooks. */
void ckpt_deferral_count_hooks(int change);

/* The reason why a thread stays at a safe point. */
struct ckpt_stay {
    void (*begin)(struct ckpt_stay *stay); /* called when the rank can be saved */
    int (*is_done)(const struct ckpt_stay *stay);
};

/*
 * Stays here, hooks included, where the rank can be saved: until is_done, or until the
 * rank must run on. Returns CKPT_TAKEN, CKPT_RESTARTED, or CKPT_ABSENT.
 */
int ckpt_deferral_stay(struct ckpt_stay *stay);

/* Returns 1 if the calling thread is in a no-checkpoint region. */
int ckpt_deferral_in_region(void);

/* Makes the serving thread check for messages to send. */
void ckpt_deferral_kick(void);

#endif
