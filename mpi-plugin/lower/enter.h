/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * enter.h - switch to another stack and come back.
 */
#ifndef CKPT_ENTER_H
#define CKPT_ENTER_H

#include <stdint.h>

/*
 * Starts a program: stores the present stack pointer in *saved_p, and jumps to
 * `entry` with the stack pointer at `stack`. Returns when ckpt_stack_leave() is
 * called with the stored value; callee-saved registers are then as before. Does
 * not change the thread pointer or the signal mask. Context: any.
 */
void ckpt_stack_enter(uint64_t entry, uint64_t stack, uint64_t *saved_p);

/* Makes the ckpt_stack_enter() that stored `saved` return. Context: any. */
void ckpt_stack_leave(uint64_t saved) __attribute__((noreturn));

#endif
