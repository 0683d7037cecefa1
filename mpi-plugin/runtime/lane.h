/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lane.h - MPI_THREAD_MULTIPLE: several threads in MPI at once.
 *
 * Each thread that calls MPI has a lane: a thread pointer of the lower half of
 * its own. One lock guards all that the plugin knows; a thread has it between
 * ckpt_begin and ckpt_end, and gives it up (`opens` it) around each lower-half
 * call that may have to wait for others, and around code of the application.
 * A checkpoint stops a rank by taking the lock when no lane is open: then all
 * threads are in the application or wait for the lock, none is in the lower
 * half. So whatever waits must wait with the lock given up: wait loops give it
 * up in every turn, and blocking collectives are nonblocking ones and such a
 * loop (ckpt_collectives_split).
 *
 * Any call that keeps the lower half working may run an operation of the
 * application, and the lock is given up around that as well: what other threads
 * may change has to be looked at anew after each.
 */
#ifndef CKPT_LANE_H
#define CKPT_LANE_H

#include "ckpt/failure.h"
#include "sys/thread_pointer.h"

#include <stdint.h>

struct ckpt_lane {
    struct ckpt_halves *halves;
    int depth;   /* how often this thread has taken the lock */
    int below;   /* calls of the lower half it is in (operations nest) */
    int open;    /* it has given up the lock in the middle of a call */
    int serving; /* the service thread's: keeps the lock, whatever it calls */
    int keeps;   /* the same, also while it runs code of the application */
    int offers;  /* the service thread's, which runs such code */
    unsigned vain; /* turns of a wait loop, all in vain */
    struct ckpt_lane *next_free;
};

#pragma GCC visibility push(hidden)

/* 1 if the application was given MPI_THREAD_MULTIPLE. */
extern int ckpt_multiple;

/* 1 if some rank was: blocking collectives of this job are nonblocking ones
 * and a wait, on all ranks, as the two do not match each other. */
extern int ckpt_collectives_split;

extern __thread struct ckpt_lane *ckpt_lane_own
    __attribute__((tls_model("initial-exec")));

/* Gives the calling thread the first lane. Context: normal, in MPI_Init. 0 or
 * -errno. */
int ckpt_lanes_open(void);

/* The calling thread's lane; made at the first call. Context: normal. */
struct ckpt_lane *ckpt_lane_get(void);

/* After a restart: the lower half is another one. _forget makes its main
 * thread pointer the caller's; _renew lends one to each other lane. Context:
 * quiesced. 0 or -errno. */
void ckpt_lanes_forget(uintptr_t main_thread_pointer);
int ckpt_lanes_renew(struct ckpt_failure *failure);

/* The lock. A thread may take it again while it has it. Context: normal, upper
 * half. */
void ckpt_lane_lock(void);
void ckpt_lane_unlock(void);

/* Gives up the lock until the next ckpt_leave (or ckpt_lane_close, above the
 * lower half): the call may wait for others. Not if the thread serves. */
void ckpt_lane_open(void);
void ckpt_lane_close(void);

/*
 * Around code of the application that the service thread runs: others may take
 * the lock from it if they have waited for long (MPI 3.1 lets that code wait for
 * them). _over: 1 if one has; then the lane is open. Context: with the lock.
 */
void ckpt_lane_offer(void);
int ckpt_lane_offer_over(void);

/* 1: from now on there is no such offer, as what is just being done cannot be
 * broken off. Context: with the lock. */
void ckpt_lane_keep(int keep);

/* 1 as long as the service thread is without the lock that way, and how often
 * that has happened: whatever it has seen of the rank may have changed. Context:
 * the second one with the lock. */
int ckpt_lane_is_taken(void);
uint64_t ckpt_lane_times_taken(void);

/* ckpt_end: unlocks; a call from inside a service leaves the state alone. */
void ckpt_lane_end(void);

/* Lanes that are open. Context: with the lock. */
int ckpt_lanes_open_count(void);

/*
 * A turn of a wait loop was in vain, or the wait is over. Many threads that wait
 * must not keep all others from the processors: all but one make pauses, or
 * all if a checkpoint is under way. Not if the thread has the lock: then the
 * loop is the application's. Returns the microseconds slept. Context: normal.
 */
unsigned ckpt_lane_back_off(int checkpoint);
void ckpt_lane_wait_over(void);

/* For plain data of the plugin that calls into neither half: the lock where
 * there is one. */
static inline void ckpt_guard(void)
{
    if (__builtin_expect(ckpt_multiple, 0)) {
        ckpt_lane_lock();
    }
}

static inline void ckpt_unguard(void)
{
    if (__builtin_expect(ckpt_multiple, 0)) {
        ckpt_lane_unlock();
    }
}

#pragma GCC visibility pop

#endif
