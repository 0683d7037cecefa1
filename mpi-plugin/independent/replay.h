/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.h - a killed rank resumes from its newest independent checkpoint, while the others
 * run on from where they were (Sultan 2004, sections 4.4.2 and 4.4.3; docs/windows.md,
 * section 6).
 *
 * The program repeats its steps, but not those with an effect on others, which its log
 * contains. What the rank received from others comes from the logs. Meanwhile its own window
 * memory is private. Other ranks' changes are applied there as far as the program may know
 * of them. At the end of the log the rank is where it was killed: its next step is live
 * again.
 */
#ifndef CKPT_INDEPENDENT_REPLAY_H
#define CKPT_INDEPENDENT_REPLAY_H

#include "independent/log/volatile_log.h"
#include "independent/window.h"
#include "runtime/uncovered.h"

#pragma GCC visibility push(hidden)

/* Saves the start of a replay in a checkpoint: the position in the log, and the memory of
 * this rank's windows, which no rank changes meanwhile (ckpt_private_remember). */
void ckpt_replay_remember(void);

/* Called when the restart has restored this rank from its checkpoint. Between begin and
 * end. */
void ckpt_replay_begin(void);

/* Ends the replay if all logged steps have been replayed: ckpt_replay_begin_present(). */
void ckpt_replay_end(void);

/* ---- For steps in a replay -------------------------------------------------------- */

/* Returns the next event, which must be of that kind. A program that takes another step than
 * before ends with a message, as the right result is unknown. */
struct ckpt_log_record *ckpt_replay_event(enum ckpt_log_kind kind);

/* Sets an event that may stand for several: the next events are taken from it. */
void ckpt_replay_repeat(const struct ckpt_log_record *event);
int ckpt_replay_repeats(char *found, size_t bytes);
int ckpt_replay_answer(void);

/* Applies this rank's logged write of the open interval, if it was to the rank's own
 * piece. */
void ckpt_replay_own_write(MPI_Win win, int target);

/* Returns the pages of a shared window that were captured at the end of the open interval,
 * once each; NULL if it did not end with a capture. */
struct ckpt_log_record *ckpt_replay_pages(MPI_Win win);

/* Handles a staged record that is already in the log as delivered. */
void ckpt_replay_delivery(MPI_Win win, struct ckpt_log_record *record, uint64_t position);

/* Called when an interval has been closed. */
void ckpt_replay_closed(void);

#pragma GCC visibility pop

#endif
