/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback.h - application code that runs inside an MPI call: operations and
 * the functions of generalized requests. It may call MPI itself, about objects
 * (MPI 3.1, section 5.9.5), without ending the call around it.
 */
#ifndef CKPT_CALLBACK_H
#define CKPT_CALLBACK_H

#include <stdint.h>

/* What was in force outside; filled by enter, for leave. */
struct ckpt_callback {
    uintptr_t thread;
    int state; /* of several threads in MPI: whether the lane was open */
    int long_way;
    int serving, offers; /* of several threads: of its lane */
};

/* Around the call of application code. Context: between ckpt_begin and ckpt_end,
 * with the upper thread pointer. */
void ckpt_callback_enter(struct ckpt_callback *outer);
void ckpt_callback_leave(const struct ckpt_callback *outer);

/* 1 if the calling thread is inside such code. Context: any, upper half. */
int ckpt_in_callback(void);

/*
 * Begins the service of the agent, if no other thread is in a call: 1. Else 0, and that thread
 * will look at the agent when it comes out; it must not be waited for, as it may itself wait
 * for what other ranks do when the agent has heard of it. Context: as ckpt_service().
 */
int ckpt_begin_service(void);

/* The checkpoint signal has come to this thread. If another one is inside a call, it gets the
 * signal, too: only its handler can answer from there. Context: signal handler. */
void ckpt_notify_inside(void);

#endif
