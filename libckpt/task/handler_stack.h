/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handler_stack.h - our own stacks for the handler of the checkpoint signal.
 *
 * The signal may interrupt code on a stack with almost no room: a goroutine's stack starts with
 * 2 KiB and has other data just below it. Only the signal frame is on that stack, or on the
 * thread's alternate stack. The handler does its work on one of these stacks.
 */
#ifndef CKPT_HANDLER_STACK_H
#define CKPT_HANDLER_STACK_H

/* The work to do on the stack. */
enum ckpt_handler_work {
    CKPT_HANDLER_PARKS,   /* the thread parks: only system calls */
    CKPT_HANDLER_ANSWERS, /* a whole checkpoint; the MPI library runs, too */
    CKPT_HANDLER_WORKS
};

/* Maps the first stack for answering, so that later memory shortage does no harm. Returns 0 or
 * -ENOMEM. Context: normal, once per process. */
int ckpt_handler_stacks_open(void);

/* Calls function(argument) on such a stack, with the caller's TLS. Returns 0, or -ENOMEM
 * without the call. Context: the handler, all signals blocked; any thread pointer. */
int ckpt_handler_stack_run(enum ckpt_handler_work work, void (*function)(void *argument),
                           void *argument);

/* After a restart: frees all stacks of this kind. Threads continue from their frames and never
 * return to them. Context: no thread runs on one. */
void ckpt_handler_stacks_left(enum ckpt_handler_work work);

#endif
