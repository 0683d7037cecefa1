/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.h - functions of the program around a checkpoint: they run at a safe point,
 * in its own thread (user/ckpt.h).
 */
#ifndef CKPT_HOOKS_H
#define CKPT_HOOKS_H

struct ckpt_hooks;

/* As ckpt_hooks_add() and ckpt_hooks_remove(). Context: normal. */
int ckpt_hooks_insert(const struct ckpt_hooks *hooks);
void ckpt_hooks_erase(int id);

/* Runs them in the order in which they were added: 1. If one does not want to, those
 * that have run hear that there is no checkpoint: 0. Context: normal; one thread at a
 * time. */
int ckpt_hooks_before(void);

/* Runs those that ckpt_hooks_before() has run, the other way round. */
void ckpt_hooks_after(int answer);

#endif
