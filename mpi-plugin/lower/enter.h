/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * enter.h - leaves one stack for another and comes back.
 */
#ifndef CKPT_ENTER_H
#define CKPT_ENTER_H

#include <stdint.h>

/*
 * Starts a program: jumps to `entry` with the stack pointer at `stack`, after
 * storing the present one in *saved_p. Returns when ckpt_stack_leave() is
 * called with that value; registers the caller owns are as before. The thread
 * pointer and the signal mask are not touched. Context: any.
 */
void ckpt_stack_enter(uint64_t entry, uint64_t stack, uint64_t *saved_p);

/* Makes the ckpt_stack_enter() that stored `saved` return. Context: any. */
void ckpt_stack_leave(uint64_t saved) __attribute__((noreturn));

#endif
