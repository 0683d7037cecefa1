/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interrupted.h - restarts system calls that the checkpoint signal interrupted.
 */
#ifndef CKPT_INTERRUPTED_H
#define CKPT_INTERRUPTED_H

#include "ckpt/failure.h"

#include <stdint.h>
#include <time.h>
#include <ucontext.h>

/* The end of this thread's present call with a timeout. */
struct ckpt_timed_call {
    long number;          /* system call number; 0: not announced */
    int milliseconds;     /* its timeout, if it takes one in a register */
    int64_t deadline;     /* on the clock of ckpt_clock_now(), nanoseconds */
    struct timespec left; /* a restarted call reads its timeout from here */
};

/*
 * Announces a call with a timeout of `nanoseconds`, so that an interrupted call continues for
 * the remaining time. milliseconds: the argument as passed, or 0. Returns the previous
 * announcement (a handler may run during a call). Context: upper half, normal.
 */
struct ckpt_timed_call ckpt_timed_call_begin(long number, int64_t nanoseconds,
                                             int milliseconds);
void ckpt_timed_call_end(const struct ckpt_timed_call *before);

/*
 * If the signal interrupted a system call that the kernel does not restart, makes the context
 * execute it again for the remaining time. So a program never sees EINTR from a checkpoint.
 * context: of the upper half's code, in the signal frame. Returns 1 if it has changed the
 * context. Context: quiesced, on the interrupted thread.
 */
int ckpt_interrupted_restart(ucontext_t *context);

/*
 * Called when a handler of the application is about to return to this context. If the handler
 * has ended a system call, the checkpoint signal could arrive just at the return. It would be
 * mistaken for the signal that interrupted the call. So it stays blocked until the thread runs
 * again. Context: signal handler, on the interrupted thread.
 */
void ckpt_interrupted_defer(ucontext_t *context);

/*
 * Called when a thread returns from the handler to a context that was changed some time before.
 * Reduces the remaining time. If a signal of the application has arrived meanwhile, the call
 * ends with EINTR, as it would have without a checkpoint. Context: quiesced.
 */
void ckpt_interrupted_continue(ucontext_t *context);

/*
 * After a restart, for a context that is about to execute a system call with an absolute time
 * on the kernel's clock: adapts the time to the new clock. A time that libc got from
 * ckpt_deadline_begin() is already right. thread_pointer: of the interrupted thread. Context:
 * quiesced.
 */
void ckpt_interrupted_restarted(ucontext_t *context, uintptr_t thread_pointer);

/* Does the same for all parked threads, which continue without their handler. Context:
 * quiesced, on the leader. */
void ckpt_interrupted_threads_restarted(void);

/*
 * Returns 0 if each parked thread can continue its present call. Otherwise returns -ENOTSUP and
 * names the thread. It waits for a mutex with priority inheritance; the kernel identifies the
 * owner by a thread id that changes at a restart. Context: quiesced, on the leader.
 */
int ckpt_interrupted_check(struct ckpt_failure *failure);

#endif
