/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.h - what a program has told the kernel about its memory: locked, huge
 * pages, not to be inherited by children or dumped.
 */
#ifndef CKPT_ADVICE_H
#define CKPT_ADVICE_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/* The program may have locked memory, or given advice that lasts. Until then
 * ckpt_advice_save() does not look. Context: any. */
void ckpt_advice_given(void);

/* The program calls mmap() with these flags, which may be such advice. Context: any. */
void ckpt_advice_mapping(int flags);

/* mlockall() with these flags, munlockall() with 0. Context: any. */
void ckpt_advice_lock_all(int flags);

/* Notes what holds for which memory, but for excluded[], in the arena. The kernel looks at
 * each page for that: some 10 ms for a GiB of small pages. 0 or -errno with the reason.
 * Context: quiesced. */
int ckpt_advice_save(struct ckpt_arena *arena,
                     const struct ckpt_range *excluded, size_t excluded_count,
                     struct ckpt_failure *failure);

/* 1 if a copy of the process would lack memory, as the program has asked for when
 * ckpt_advice_save() was called. Context: any. */
int ckpt_advice_against_copies(void);

/* After a restart: gives the advice again. Memory that may no longer be locked
 * (RLIMIT_MEMLOCK) is not. Before anything else is put into that arena.
 * Context: quiesced. */
void ckpt_advice_restore(void);

#endif
