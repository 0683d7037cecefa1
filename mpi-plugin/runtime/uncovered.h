/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncovered.h - operations that a replay of an independent checkpoint could not repeat
 * (independent/replay.h): every call counts them, so this is part of the runtime.
 */
#ifndef CKPT_UNCOVERED_H
#define CKPT_UNCOVERED_H

#include "ckpt/independent.h"

#pragma GCC visibility push(hidden)

/* The page that the ranks share (independent/page.h). NULL unless the job takes independent
 * checkpoints. */
extern struct ckpt_independent_page *ckpt_independent;

/* This rank's part of it; without the page, a structure that no one reads. */
extern struct ckpt_independent_rank *ckpt_independent_self;

/* 1 from the beginning of a replay to the first live step. */
extern int ckpt_replaying;

/* Called before a step, or before an operation that cannot be replayed: ends the replay if
 * all logged steps have been replayed. Context: between ckpt_begin and ckpt_end. */
void ckpt_replay_begin_present(void);

#pragma GCC visibility pop

static inline void ckpt_replay_look(void)
{
    if (__builtin_expect(ckpt_replaying, 0)) {
        ckpt_replay_begin_present();
    }
}

/* Called before an operation that a replay could not repeat: messages, collectives. */
static inline void ckpt_uncovered_begin(void)
{
    ckpt_independent_self->uncovered++;
}

/* Counts a message that was sent or received. */
static inline void ckpt_uncovered_message(void)
{
    ckpt_independent_self->uncovered++;
    ckpt_independent_self->uncovered_done++;
}

static inline void ckpt_uncovered_end(void)
{
    __asm__ volatile("" ::
                         : "memory"); /* other ranks read both */
    ckpt_independent_self->uncovered_done++;
}

#endif
