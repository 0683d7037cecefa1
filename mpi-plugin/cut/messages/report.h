/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - what this rank tells the agent about the checkpoint that it takes part in
 * (runtime/state.h). Context of all: any place that answers the agent, with the
 * plugin's lock.
 */
#ifndef CKPT_REPORT_H
#define CKPT_REPORT_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "runtime/state.h"

/* Sends a message of `type` with the rank's place (ckpt/wire.h). holding: the rank
 * stands still until the agent answers. */
void ckpt_report_place(uint32_t type, enum ckpt_place place, uint64_t slot,
                       uint64_t flags, int holding);

/* Reports one thread's gate, with the values of its clock there. Each thread reports
 * its own gate, as the agent knows of this rank only what it is told. */
void ckpt_report_gate(const struct ckpt_clock *clock, uint64_t slot);

/* If other threads have run since the service thread began to hold (runtime/thread_context.h):
 * reports the rank as inside, and breaks off the agent's order. */
void ckpt_report_taken(void);

/* Tells the agent that this rank cannot be saved now. A reason without an identity is an internal
 * error. */
void ckpt_report_refusal(const struct ckpt_failure *failure);

#endif
