/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferral_state.h - state shared by deferral.c and stay.c; for these two only.
 *
 * Variables that application threads change are atomic: the serving thread reads
 * them, also in a signal handler. All of this state is saved with the process.
 */
#ifndef CKPT_DEFERRAL_STATE_H
#define CKPT_DEFERRAL_STATE_H

#include <stdint.h>

struct ckpt_deferral {
    int regions; /* depth of no-checkpoint regions, summed over the threads */
    int only_at_safe_points;
    int hooks;
    int staying;       /* threads that stay at a safe point */
    uint64_t stays_at; /* safe point of the thread with the hooks; or 0 */
    uint64_t places;   /* number of safe points reached */
    int refused;       /* the agent waits until this rank can be saved */
    int can_be_saved;  /* must still be sent to the agent */
    uint64_t stop_at;  /* the safe point to stay at; 0: no request waits */
    uint64_t captured; /* number of times the memory was saved */
    uint64_t restarts;
};

extern struct ckpt_deferral ckpt_deferral;

#define GET(variable)        __atomic_load_n(&(variable), __ATOMIC_SEQ_CST)
#define SET(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_SEQ_CST)
#define ADD(variable, value) __atomic_add_fetch(&(variable), value, __ATOMIC_SEQ_CST)
#define SWAP(variable, value) \
    __atomic_exchange_n(&(variable), value, __ATOMIC_SEQ_CST)

/* Returns milliseconds of the monotonic clock. Context: any. */
int64_t ckpt_deferral_now_ms(void);

/* Returns 1 if this rank can be saved only where a thread stays at a safe point.
 * Context: any. */
int ckpt_deferral_must_be_at_safe_point(void);

/* Has the agent told that this rank can be saved now, if the agent waits to hear so.
 * Context: normal. */
void ckpt_deferral_tell_if_over(void);

#endif
