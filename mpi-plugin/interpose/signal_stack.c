/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_stack.c - alternate stacks that are too small for a signal.
 *
 * The kernel ends a program when the frame of a signal does not fit. 2048 bytes, the
 * traditional MINSIGSTKSZ, are too few for the registers of newer processors. Such a
 * program works as long as no signal comes, but the checkpoint signal would end it. So the
 * kernel does not get such a stack: handlers run on the thread's own stack.
 */
#include "config.h"

#include "base/invariant.h"
#include "interpose/next.h"
#include "task/threads.h"

#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51 /* newer than some headers */
#endif

#define ALWAYS_REFUSED 2048u /* the kernel refuses less than that */

/* The stack that the thread has set and the kernel does not know. ss_size 0: none. */
static __thread stack_t deferred __attribute__((tls_model("initial-exec")));

static int is_too_small(const stack_t *stack)
{
    return (stack->ss_flags & SS_DISABLE) == 0 && stack->ss_size >= ALWAYS_REFUSED &&
           stack->ss_size < getauxval(AT_MINSIGSTKSZ) + CKPT_HANDLER_ROOM;
}

CKPT_INTERPOSE int sigaltstack(const stack_t *stack, stack_t *old)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    const stack_t before = deferred;
    stack_t wanted = {.ss_size = 0};
    int status;

    CKPT_INVARIANT(before.ss_size == 0 || before.ss_size >= ALWAYS_REFUSED);
    if (stack != NULL && is_too_small(stack)) {
        wanted = *stack;
        stack = &none;
    }
    status = CKPT_NEXT(sigaltstack)(stack, old);
    if (status == 0 && stack != NULL) {
        deferred = wanted;
    }
    if (status == 0 && old != NULL && before.ss_size != 0) {
        *old = before;
    }
    return status;
}
