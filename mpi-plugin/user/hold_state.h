/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hold_state.h - what hold.c and stay.c know in common; for these two only.
 *
 * What threads of the application change is atomic: the thread that serves looks
 * at it, in a signal's handler too. All of it is saved with the process.
 */
#ifndef CKPT_HOLD_STATE_H
#define CKPT_HOLD_STATE_H

#include <stdint.h>

struct ckpt_hold {
    int regions; /* how deep in them the threads are, together */
    int only_at_safe_points;
    int hooks;
    int staying;        /* threads that stay at a safe point */
    uint64_t stays_at;  /* the safe point of the one that looks after the hooks;
                           0: there is none */
    uint64_t places;    /* safe points that have been reached */
    int refused;        /* the agent waits to hear that it can be saved */
    int can_be_saved;   /* to be told */
    uint64_t stop_at;   /* the safe point to stay at; 0: nothing waits */
    uint64_t captured;  /* how often its memory was saved */
    uint64_t restarts;
};

extern struct ckpt_hold ckpt_hold;

#define GET(variable) __atomic_load_n(&(variable), __ATOMIC_SEQ_CST)
#define SET(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_SEQ_CST)
#define ADD(variable, value) __atomic_add_fetch(&(variable), value, __ATOMIC_SEQ_CST)
#define SWAP(variable, value)                                                  \
    __atomic_exchange_n(&(variable), value, __ATOMIC_SEQ_CST)

/* Milliseconds of the monotonic clock. Context: any. */
int64_t ckpt_hold_now_ms(void);

/* 1 if it can be saved only where a thread stays at a safe point. Context: any. */
int ckpt_hold_must_be_at_safe_point(void);

/* Has the agent told that the rank can be saved, if it waits for that and it is so.
 * Context: normal. */
void ckpt_hold_tell_if_over(void);

#endif
