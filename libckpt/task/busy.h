/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy.h - tells whoever sends the checkpoint signal that it was taken, or that code of
 * ours blocks it: it will be taken. A thread that blocks it without that being told may
 * never take it.
 */
#ifndef CKPT_BUSY_H
#define CKPT_BUSY_H

#include "ckpt/signal_state.h"

enum ckpt_busy {
    CKPT_BUSY_ANSWERING = 1, /* in the handler of the checkpoint signal */
    CKPT_BUSY_FREEZING = 2,  /* the other threads stand still */
    CKPT_BUSY_APART = 4,     /* a thread of ours answers, which takes signals only while
                                it waits */
    CKPT_BUSY_HOLD = 256,    /* so much for each short section without signals */
};

/* Where it is told from now on, shared with others perhaps; begins with zeros. NULL:
 * nowhere. Context: normal, or quiesced. */
void ckpt_busy_tell(struct ckpt_signal_state *state);

/* The signal has come, and is about to be answered. Context: its handler. */
void ckpt_busy_took(void);

/* One of the first three begins, is over. Context: any. */
void ckpt_busy_set(enum ckpt_busy why);
void ckpt_busy_clear(enum ckpt_busy why);

/* Around a section, by any thread. Context: any, with all signals blocked. */
void ckpt_busy_hold(void);
void ckpt_busy_release(void);

#endif
