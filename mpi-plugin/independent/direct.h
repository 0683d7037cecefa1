/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.h - puts that are in their target's memory at once, and in the log for the
 * target's replay (docs/windows.md, section 4). Their delivery only makes them known.
 *
 * A put can be repeated: a killed origin puts the same bytes again when it is replayed. An
 * accumulate cannot. A shared window has another copy of its memory that must be kept up to
 * date. So both are always staged. Direct puts require that a target's memory is *quiet*
 * when it becomes part of a checkpoint (independent/log/quiet.h).
 */
#ifndef CKPT_INDEPENDENT_DIRECT_H
#define CKPT_INDEPENDENT_DIRECT_H

#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* Returns whether puts to a new window, whose flavor and infos are set, are direct: its
 * info ckpt_direct says so, or CKPT_WINDOWS. Context: normal. */
int ckpt_direct_is_wanted(MPI_Win win);

/* Applies a put that ckpt_stage_commit() has just staged to its target's memory, if that is
 * possible; else it stays staged. Between begin and end, which it may leave and enter
 * again. */
void ckpt_direct_put(MPI_Win win, struct ckpt_log_record *record);

/* Called when no record waits for delivery to the piece any more. Between begin and end. */
void ckpt_direct_delivered(MPI_Win win, int piece);

/* Returns whether this rank's memory in all windows is quiet. Between begin and end. */
int ckpt_direct_is_quiet(void);

/* asked: 1: asks other ranks to stage their puts, so that this rank's memory becomes quiet;
 * 0: ends that. Between begin and end. */
void ckpt_direct_ask(int asked);

#pragma GCC visibility pop

#endif
