/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.h - a rank that was killed goes on from its newest independent checkpoint, while
 * the others go on from where they were (Sultan 2004, sections 4.4.2 and 4.4.3;
 * docs/windows.md, section 6).
 *
 * What its program does is done again, but not what had an effect on others: its log has
 * that. What it got from others it gets from the logs. Meanwhile its own window memory is
 * private, and what others have done to it is brought there as far as the program may
 * know of it. When the log has nothing more to tell, the rank is where it was killed: with
 * its next step it takes part in the present again.
 */
#ifndef CKPT_INDEPENDENT_REPLAY_H
#define CKPT_INDEPENDENT_REPLAY_H

#include "independent/volatile_log.h"
#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* 1 from the beginning of a replay to the first step in the present. */
extern int ckpt_replaying;

/* What a replay begins with, to be had in a checkpoint: the place in the log, and the memory
 * of the windows of this rank, which nobody changes meanwhile (ckpt_private_remember). */
void ckpt_replay_remember(void);

/* The restart has brought this rank back from its checkpoint. Between begin and end. */
void ckpt_replay_begin(void);

/* Before a step, or what cannot be replayed: if all that was logged has been replayed, the
 * present begins. */
void ckpt_replay_begin_present(void);

static inline void ckpt_replay_look(void)
{
    if (__builtin_expect(ckpt_replaying, 0)) {
        ckpt_replay_begin_present();
    }
}

/* The rest is for steps in a replay. ------------------------------------------------ */

/* The next event, which has to be of that kind: a program that does something else than
 * before ends, with a message, as nobody can say what would be right. */
struct ckpt_log_record *ckpt_replay_event(enum ckpt_log_kind kind);

/* An event that may stand for several: those that follow are taken from it. */
void ckpt_replay_repeat(const struct ckpt_log_record *event);
int ckpt_replay_repeats(char *found, size_t bytes);
int ckpt_replay_answer(void);

/* What the log says this rank wrote in the interval that is open, if that was its own
 * piece. */
void ckpt_replay_own_write(MPI_Win win, int target);

/* The pages of a shared window that were captured at the end of the interval that is open,
 * once; NULL: it did not end with that. */
struct ckpt_log_record *ckpt_replay_pages(MPI_Win win);

/* A staged record that is in the log already, delivered. */
void ckpt_replay_delivery(MPI_Win win, struct ckpt_log_record *record, uint64_t position);

/* An interval has been closed. */
void ckpt_replay_closed(void);

#pragma GCC visibility pop

#endif
