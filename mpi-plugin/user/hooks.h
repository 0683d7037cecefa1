/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h - functions of the program that run around a checkpoint: at a safe
 * point, in the program's thread (user/ckpt.h).
 */
#ifndef CKPT_HOOKS_H
#define CKPT_HOOKS_H

struct ckpt_hooks;

/* Implement ckpt_hooks_add() and ckpt_hooks_remove(). Context: normal. */
int ckpt_hooks_insert(const struct ckpt_hooks *hooks);
void ckpt_hooks_erase(int id);

/* Runs the `before` functions in the order in which they were added, and
 * returns 1. If one refuses, calls `after` with CKPT_REFUSED for those that
 * have run, and returns 0. Context: normal; one thread at a time. */
int ckpt_hooks_before(void);

/* Runs the `after` functions of these hooks in reverse order. */
void ckpt_hooks_after(int answer);

#endif
