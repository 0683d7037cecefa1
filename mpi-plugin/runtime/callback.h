/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback.h - application code that runs inside an MPI call: operations and the functions of
 * generalized requests. Such code may itself call MPI functions on objects (MPI 3.1, section
 * 5.9.5), which does not end the outer call.
 */
#ifndef CKPT_CALLBACK_H
#define CKPT_CALLBACK_H

#include <stdint.h>

/* The state outside the callback. ckpt_callback_enter() saves it for
 * ckpt_callback_leave(). */
struct ckpt_callback {
    uintptr_t thread;
    int state; /* with several threads in MPI: the context was open */
    int slow_path;
    int serving, offers; /* of the thread's context, with several threads */
};

/* Called before and after application code. Context: between ckpt_begin and ckpt_end, with
 * the upper thread pointer. */
void ckpt_callback_enter(struct ckpt_callback *outer);
void ckpt_callback_leave(const struct ckpt_callback *outer);

/* Returns 1 if the calling thread is inside such code. Context: any, upper half. */
int ckpt_in_callback(void);

/*
 * Begins to serve the agent, if no other thread is in a call; then returns 1. Else returns 0,
 * and the thread in the call serves the agent when it leaves. The caller must not wait for
 * that thread: it may itself wait for other ranks, which wait until the agent has heard from
 * this rank. Context: as ckpt_service().
 */
int ckpt_begin_service(void);

/* Called in the checkpoint signal's handler. If another thread is inside a call, sends it the
 * signal, too: only its handler can answer from there. Context: signal handler. */
void ckpt_notify_inside(void);

#endif
