/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.h - puts that are in their target's memory at once, and in the log for its replay
 * (docs/windows.md, section 4); their delivery makes them known, no more.
 *
 * That can be repeated, so an origin that is killed meanwhile puts the same again when it
 * is replayed. Accumulates cannot, and shared windows have another copy of their memory to
 * be brought up to date: both are staged as ever. What all of these need of each other is
 * that a target's memory is *quiet* when it becomes part of a checkpoint
 * (independent/quiet.h).
 */
#ifndef CKPT_INDEPENDENT_DIRECT_H
#define CKPT_INDEPENDENT_DIRECT_H

#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* Whether puts to a new window, whose flavor and infos are known, are to be such: its info
 * ckpt_direct says so, or CKPT_WINDOWS. Context: normal. */
int ckpt_direct_is_wanted(MPI_Win win);

/* Brings a put that has just been staged, by ckpt_stage_commit(), into the memory of its
 * target, if that is possible; else it remains staged. Between begin and end, which it may
 * leave and enter. */
void ckpt_direct_put(MPI_Win win, struct ckpt_log_record *record);

/* Nothing waits for delivery to a piece any more. Between begin and end. */
void ckpt_direct_delivered(MPI_Win win, int piece);

/* Whether this rank's memory in all windows is quiet. Between begin and end. */
int ckpt_direct_is_quiet(void);

/* It is to become so, and to remain so: others stage their puts to it. Or no longer. Between
 * begin and end. */
void ckpt_direct_ask(int asked);

#pragma GCC visibility pop

#endif
