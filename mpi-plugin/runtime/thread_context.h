/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_context.h - MPI_THREAD_MULTIPLE: several threads in MPI at once.
 *
 * Each thread that calls MPI has a context, with its own thread pointer of the
 * lower half. One lock guards all data of the plugin. A thread has the lock
 * between ckpt_begin and ckpt_end. It gives the lock up (`opens` its context)
 * around each lower-half call that may have to wait for others, and around
 * application code. A checkpoint stops a rank by taking the lock when no context
 * is open. Then all threads are in the application or wait for the lock, and
 * none is in the lower half. So a thread must give up the lock whenever it
 * waits. Wait loops give it up in every turn, and a blocking collective is a
 * nonblocking one and such a loop (ckpt_collectives_split).
 *
 * Any call that progresses the lower half may run an operation of the
 * application, and gives up the lock around that as well. So after each such
 * call the caller must check again all data that other threads may change.
 */
#ifndef CKPT_THREAD_CONTEXT_H
#define CKPT_THREAD_CONTEXT_H

#include "ckpt/failure.h"
#include "sys/thread_pointer.h"

#include <stdint.h>

struct ckpt_thread_context {
    struct ckpt_halves *halves;
    int depth;     /* number of times this thread has taken the lock */
    int below;     /* lower-half calls the thread is in (operations nest) */
    int open;      /* the lock is given up in the middle of a call */
    int serving;   /* the service thread's: keeps the lock, whatever it calls */
    int keeps;     /* the same, even while it runs application code */
    int offers;    /* the service thread runs application code */
    unsigned vain; /* consecutive unsuccessful turns of a wait loop */
    struct ckpt_thread_context *next_free;
};

#pragma GCC visibility push(hidden)

/* 1 if the application has MPI_THREAD_MULTIPLE. */
extern int ckpt_multiple;

/* 1 if some rank has MPI_THREAD_MULTIPLE. Then all ranks run a blocking
 * collective as a nonblocking one and a wait, as the two forms do not match
 * each other. */
extern int ckpt_collectives_split;

extern __thread struct ckpt_thread_context *ckpt_thread_context_own
    __attribute__((tls_model("initial-exec")));

/* Gives the calling thread the first context. Context: normal, in MPI_Init.
 * Returns 0 or -errno. */
int ckpt_thread_contexts_open(void);

/* Returns the calling thread's context, and makes it at the first call. Context:
 * normal. */
struct ckpt_thread_context *ckpt_thread_context_get(void);

/* Called after a restart, with a new lower half. _forget makes its main thread
 * pointer the caller's; _renew lends one to each other context. Context: quiesced.
 * Return 0 or -errno. */
void ckpt_thread_contexts_forget(uintptr_t main_thread_pointer);
int ckpt_thread_contexts_renew(struct ckpt_failure *failure);

/* Take and give up the lock. A thread may take it again while it has it.
 * Context: normal, upper half. */
void ckpt_thread_context_lock(void);
void ckpt_thread_context_unlock(void);

/* Gives up the lock until the next ckpt_leave (or ckpt_thread_context_close, in the upper
 * half): the call may wait for others. Does nothing if the thread serves. */
void ckpt_thread_context_open(void);
void ckpt_thread_context_close(void);

/*
 * Called before and after application code that the service thread runs.
 * Meanwhile other threads may take the lock after waiting for a while (MPI 3.1
 * permits that code to wait for them). _over: returns 1 if one has; then the
 * context is open. Context: with the lock.
 */
void ckpt_thread_context_offer(void);
int ckpt_thread_context_offer_over(void);

/* With 1, stops such offers: the present action must not be interrupted.
 * Context: with the lock. */
void ckpt_thread_context_keep(int keep);

/* Returns 1 while other threads have taken the lock from the service thread.
 * ckpt_thread_context_times_taken() counts how often: after each time the rank's state
 * may have changed. Context: the second one with the lock. */
int ckpt_thread_context_is_taken(void);
uint64_t ckpt_thread_context_times_taken(void);

/* Unlocks, for ckpt_end; a call from inside a service does not change the
 * state. */
void ckpt_thread_context_end(void);

/* Returns the number of open contexts. Context: with the lock. */
int ckpt_thread_contexts_open_count(void);

/*
 * Called after an unsuccessful turn of a wait loop, or when the wait is over.
 * Many waiting threads must not take the processors from the others. So all
 * waiting threads but one pause, or all of them during a checkpoint. A thread
 * that has the lock does not pause: the loop is then the application's. Returns
 * the microseconds slept. Context: normal.
 */
unsigned ckpt_thread_context_back_off(int checkpoint);
void ckpt_thread_context_wait_over(void);

/* Guard plain data of the plugin, for code that calls into neither half: take
 * the lock if several threads may be in MPI. */
static inline void ckpt_guard(void)
{
    if (__builtin_expect(ckpt_multiple, 0)) {
        ckpt_thread_context_lock();
    }
}

static inline void ckpt_unguard(void)
{
    if (__builtin_expect(ckpt_multiple, 0)) {
        ckpt_thread_context_unlock();
    }
}

#pragma GCC visibility pop

#endif
