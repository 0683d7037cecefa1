/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handler_stack.h - stacks of ours for the handler of the checkpoint signal.
 *
 * What the signal interrupts may run on a stack with hardly any room: that of a goroutine
 * has 2 KiB to begin with, with other data just below. Only the frame of the signal stands
 * there, or on the thread's alternate stack; the work is done here.
 */
#ifndef CKPT_HANDLER_STACK_H
#define CKPT_HANDLER_STACK_H

/* What is to be done there. */
enum ckpt_handler_work {
    CKPT_HANDLER_PARKS,   /* the thread stands still: system calls, and no more */
    CKPT_HANDLER_ANSWERS, /* all of a checkpoint; the MPI library runs, too */
    CKPT_HANDLER_WORKS
};

/* Makes the first one for answering, so that memory that is short later does no harm. 0 or
 * -ENOMEM. Context: normal, once per process. */
int ckpt_handler_stacks_open(void);

/* Calls function(argument) on such a stack, without TLS of its own. Returns 0, or
 * -ENOMEM without a call. Context: the handler, all signals blocked; any thread pointer. */
int ckpt_handler_stack_run(enum ckpt_handler_work work, void (*function)(void *argument),
                           void *argument);

/* After a restart: threads go on from their frames, and never come back to the stacks of
 * this kind that they had. Context: no thread runs on one. */
void ckpt_handler_stacks_left(enum ckpt_handler_work work);

#endif
