/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interrupted.h - system calls that the checkpoint signal interrupted.
 */
#ifndef CKPT_INTERRUPTED_H
#define CKPT_INTERRUPTED_H

#include "ckpt/failure.h"

#include <stdint.h>
#include <time.h>
#include <ucontext.h>

/* The call with a time-out that this thread is in: when it shall end. */
struct ckpt_timed_call {
    long number;          /* of the system call; 0: not announced */
    int milliseconds;     /* its time-out, if it takes one in a register */
    int64_t deadline;     /* nanoseconds of ckpt_clock_now() */
    struct timespec left; /* where a call that goes on reads its time-out */
};

/*
 * Announces a call that takes a time-out of `nanoseconds`, so that one that is
 * interrupted goes on for the rest. milliseconds: the argument as it is given,
 * or 0. Returns what was announced before (a handler may run in a call).
 * Context: upper half, normal.
 */
struct ckpt_timed_call ckpt_timed_call_begin(long number, int64_t nanoseconds,
                                             int milliseconds);
void ckpt_timed_call_end(const struct ckpt_timed_call *before);

/*
 * If the signal interrupted a system call that the kernel does not restart by
 * itself, makes the context execute it again for the time that is left, so that
 * a program never sees EINTR from a checkpoint. context: that of the upper
 * half's code, in the signal frame. Returns 1 if that was done. Context:
 * quiesced, on the thread that was interrupted.
 */
int ckpt_interrupted_restart(ucontext_t *context);

/*
 * A handler of the application is about to return to this context. If it has ended a system
 * call, the checkpoint signal could come just when the handler returns, and would be taken
 * for what has interrupted the call. So it is held back until the thread runs again.
 * Context: signal handler, on the interrupted thread.
 */
void ckpt_interrupted_defer(ucontext_t *context);

/*
 * When a thread leaves the handler for such a context, some time later: less
 * is left; and if a signal of the application has come meanwhile, the call ends
 * with EINTR, as it would have without us. Context: quiesced.
 */
void ckpt_interrupted_continue(ucontext_t *context);

/*
 * After a restart, for a context that is about to execute a system call with an
 * absolute time on the kernel's clock: the time changes with the clock. A time
 * that libc got from ckpt_deadline_begin() is right already. thread_pointer: of
 * the thread that was interrupted. Context: quiesced.
 */
void ckpt_interrupted_restarted(ucontext_t *context, uintptr_t thread_pointer);

/* The same for all parked threads, which go on without their handler. Context:
 * quiesced, on the leader. */
void ckpt_interrupted_threads_restarted(void);

/*
 * 0 if each parked thread can go on with the call that it is in; else -ENOTSUP, naming the
 * thread: it waits for a mutex with priority inheritance, whose owner the kernel knows by a
 * number that it has not after a restart. Context: quiesced, on the leader.
 */
int ckpt_interrupted_check(struct ckpt_failure *failure);

#endif
