/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hold.h - when the program wants this rank not to be saved: no-checkpoint regions,
 * and everywhere but at safe points.
 *
 * A rank that holds a checkpoint takes part in the cut like any other. It only refuses
 * to be saved, *for now*: the checkpoint is given up, by the same rules as for every
 * other refusal, so nobody ever waits for a rank that may wait for him. The
 * coordinator keeps the request, tells all ranks that there is one, and at which of
 * their safe points they are to *stay* for it, and begins anew when those that have
 * refused can be saved (docs/user-defined.md).
 */
#ifndef CKPT_HOLD_H
#define CKPT_HOLD_H

#include "ckpt/wire.h"

#include <stdint.h>

/* 1 if this rank is not to be saved now. Context: any. */
int ckpt_hold_is_on(void);

/* 1 if a request waits for ranks that hold it. Context: any. */
int ckpt_hold_is_wanted(void);

/* 1 if a request waits, and perhaps for this rank: its waits must come to an end now
 * and then. Context: any. */
int ckpt_hold_matters(void);

/* Tells the agent that this rank holds the checkpoint, and why. Context: any that
 * serves, or quiesced. */
void ckpt_hold_refuse(void);

/* Of the agent: HELD, and RESUME. Context: service. */
void ckpt_hold_told(const struct ckpt_message *message);

/* Sends what the threads of the application have to tell. Context: service. */
void ckpt_hold_tell(void);

/* A wait of this rank was in vain, or is over: if it may wait for a rank that stays for
 * this one, the coordinator hears of it. Context: as ckpt_wait_in_vain. */
void ckpt_hold_waits_in_vain(void);
void ckpt_hold_wait_over(void);

/* The agent is gone, and the request with it; or the process has come back from an
 * image. Context: service; quiesced. */
void ckpt_hold_forget(void);
void ckpt_hold_restarted(void);

uint64_t ckpt_hold_restarts(void);

/* ---- For the program's own threads, in normal context ----------------------- */

void ckpt_hold_disable(void);
int ckpt_hold_enable(void);
int ckpt_hold_safe_point(void);
void ckpt_hold_only_at_safe_points(int only);

/* One hook more or less. */
void ckpt_hold_count_hooks(int change);

/* Why a thread stays at a safe point. */
struct ckpt_stay {
    void (*begin)(struct ckpt_stay *stay);   /* called when the rank can be saved */
    int (*is_done)(const struct ckpt_stay *stay);
};

/*
 * Stays here, hooks included, where the rank can be saved: until is_done, or until the
 * rank has to go on.
 * Returns CKPT_TAKEN, CKPT_RESTARTED, or CKPT_ABSENT.
 */
int ckpt_hold_stay(struct ckpt_stay *stay);

/* 1 if the calling thread is in a no-checkpoint region. */
int ckpt_hold_in_region(void);

/* Has the thread that serves look at what is to be told. */
void ckpt_hold_kick(void);

#endif
