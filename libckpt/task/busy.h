/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy.h - tells the sender of the checkpoint signal that the rank has taken it, or that our
 * code blocks it for now. If a thread blocks the signal without such a report, it may never
 * take it.
 */
#ifndef CKPT_BUSY_H
#define CKPT_BUSY_H

#include "ckpt/signal_state.h"

enum ckpt_busy {
    CKPT_BUSY_ANSWERING = 1, /* in the handler of the checkpoint signal */
    CKPT_BUSY_FREEZING = 2,  /* the other threads are stopped */
    CKPT_BUSY_APART = 4,     /* a service thread answers; it takes signals only while it
                                waits */
    CKPT_BUSY_HOLD = 256,    /* added for each short section with signals blocked */
};

/* Sets the structure to write to, which other processes may share; it starts as zeros. NULL:
 * none. Context: normal, or quiesced. */
void ckpt_busy_tell(struct ckpt_signal_state *state);

/* The signal has arrived and is about to be answered. Context: its handler. */
void ckpt_busy_took(void);

/* One of the first three states begins or ends. Context: any. */
void ckpt_busy_set(enum ckpt_busy why);
void ckpt_busy_clear(enum ckpt_busy why);

/* Enclose a section without signals, in any thread. Context: any, with all signals blocked. */
void ckpt_busy_hold(void);
void ckpt_busy_release(void);

#endif
