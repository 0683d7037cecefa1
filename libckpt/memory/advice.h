/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.h - the program's advice to the kernel about its memory: locked, huge pages, not
 * inherited by children, not dumped.
 */
#ifndef CKPT_ADVICE_H
#define CKPT_ADVICE_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/* The program may have locked memory, or given lasting advice. Without this call
 * ckpt_advice_save() does nothing. Context: any. */
void ckpt_advice_given(void);

/* The program calls mmap() with these flags, which may include such advice. Context: any. */
void ckpt_advice_mapping(int flags);

/* The program calls mlockall() with these flags, or munlockall() (0). Context: any. */
void ckpt_advice_lock_all(int flags);

/* Records in the arena the advice for all memory outside of excluded[]. The kernel walks all
 * pages for this: some 10 ms for a GiB of small pages. Returns 0 or -errno with the reason.
 * Context: quiesced. */
int ckpt_advice_save(struct ckpt_arena *arena,
                     const struct ckpt_range *excluded, size_t excluded_count,
                     struct ckpt_failure *failure);

/* Returns 1 if a copy of the process would lack memory because of the program's advice, as of
 * the last ckpt_advice_save(). Context: any. */
int ckpt_advice_against_copies(void);

/* After a restart: gives the advice again. Leaves memory unlocked if it exceeds RLIMIT_MEMLOCK.
 * Call it before that arena is used again. Context: quiesced. */
void ckpt_advice_restore(void);

#endif
