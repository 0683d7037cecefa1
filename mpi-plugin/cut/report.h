/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - the checkpoint that this rank takes part in, and what the agent is
 * told of it. Context of all: any place that serves, with the plugin's lock.
 */
#ifndef CKPT_REPORT_H
#define CKPT_REPORT_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "cut/collective.h"

struct ckpt_checkpoint {
    int open;            /* between MPI_Init and MPI_Finalize */
    int armed;           /* a checkpoint is under way: the gate is closed */
    int moving;          /* it is one for which nobody is to stand still */
    int in_doubt;        /* the agent was lost before the cut of this rank: others
                            may have been cut */
    int cut_due;         /* CUT came inside a call: `cut` is to be obeyed after it */
    struct ckpt_message cut;
    int hold;            /* waiting for the agent's next word */
    int inside_told;     /* the agent believes this rank to be inside */
    int waiting_told;    /* the agent believes this rank to be waiting */
    int vain;            /* tests in vain in a row */
    int helping;         /* turns for which it keeps the lower half working, for
                            another rank's sake, before it runs on */
    uint64_t taken;      /* ckpt_lane_times_taken() when that was told last */
    volatile int kicked; /* a signal came while serving */
    uint64_t epoch;
};

extern struct ckpt_checkpoint ckpt_checkpoint;

/* Leaves the checkpoint that is under way: the gate opens. */
void ckpt_checkpoint_leave(void);

/* RESUME. */
void ckpt_checkpoint_over(const struct ckpt_message *message);

/* The agent is gone. Whatever was under way is off; a new agent serves the
 * next request. But if others may have been cut and this rank not, the gate stays
 * shut until the new agent knows (docs/consistent-cuts.md, section 1). */
void ckpt_agent_lost(void);

/* A message of `type` with the rank's place (ckpt/wire.h); holding: it stands
 * still until the agent answers. */
void ckpt_report_place(uint32_t type, enum ckpt_place place, uint64_t slot,
                       uint64_t flags, int holding);

/* Everything the agent knows of this rank is in what it is told: of several
 * threads each gate is told on its own, with what the clock shows there. */
void ckpt_report_gate(const struct ckpt_clock *clock, uint64_t slot);

/* If other threads have run since the service thread was to hold (runtime/lane.h):
 * the rank is inside, and whatever it was ordered to do is broken off. */
void ckpt_report_taken(void);

/* This rank cannot be saved now. */
void ckpt_report_refusal(const struct ckpt_failure *failure);

#endif
