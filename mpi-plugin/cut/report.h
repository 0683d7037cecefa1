/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - the checkpoint that this rank takes part in, and what this rank tells
 * the agent about it. Context of all: any place that answers the agent, with the
 * plugin's lock.
 */
#ifndef CKPT_REPORT_H
#define CKPT_REPORT_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "cut/collective.h"

struct ckpt_checkpoint {
    int open;            /* between MPI_Init and MPI_Finalize */
    int armed;           /* a checkpoint is under way: the gate is closed */
    int moving;          /* the ranks run on during this checkpoint */
    int in_doubt;        /* the agent was lost before the cut of this rank: other
                            ranks may have been cut */
    int cut_due;         /* CUT came inside a call: obey `cut` after it */
    struct ckpt_message cut;
    int hold;            /* wait for the agent's next message */
    int inside_told;     /* the agent believes this rank to be inside */
    int waiting_told;    /* the agent believes this rank to be waiting */
    int vain;            /* consecutive unsuccessful tests */
    int helping;         /* turns for which it progresses the lower half, for another
                            rank's sake, before it runs on */
    uint64_t taken;      /* ckpt_lane_times_taken() when last reported */
    volatile int signalled; /* a signal came during a service */
    uint64_t epoch;
};

extern struct ckpt_checkpoint ckpt_checkpoint;

/* Leaves the present checkpoint: the gate opens. */
void ckpt_checkpoint_leave(void);

/* RESUME. */
void ckpt_checkpoint_over(const struct ckpt_message *message);

/* Handles the loss of the agent. The present checkpoint is off; a new agent serves
 * the next request. But if other ranks may have been cut and this one not, the gate
 * stays shut until the new agent knows (docs/consistent-cuts.md, section 1). */
void ckpt_agent_lost(void);

/* Sends a message of `type` with the rank's place (ckpt/wire.h). holding: the rank
 * stands still until the agent answers. */
void ckpt_report_place(uint32_t type, enum ckpt_place place, uint64_t slot,
                       uint64_t flags, int holding);

/* Reports one thread's gate, with the values of its clock there. Each thread reports
 * its own gate, as the agent knows of this rank only what it is told. */
void ckpt_report_gate(const struct ckpt_clock *clock, uint64_t slot);

/* If other threads have run since the service thread began to hold (runtime/lane.h):
 * reports the rank as inside, and breaks off the agent's order. */
void ckpt_report_taken(void);

/* Tells the agent that this rank cannot be saved now. A reason without an identity is an internal
 * error. */
void ckpt_report_refusal(const struct ckpt_failure *failure);

/* Refuses the checkpoint because the plugin has found its own data to be wrong: `what`, for the
 * user and for a report of the error. The rank runs on. */
void ckpt_report_internal_error(const char *what);

#endif
