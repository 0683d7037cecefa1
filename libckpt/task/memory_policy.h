/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_policy.h - on which NUMA nodes the program wants its memory: policies of threads
 * (set_mempolicy) and of memory (mbind). Those that the launcher has set are the launcher's.
 */
#ifndef CKPT_MEMORY_POLICY_H
#define CKPT_MEMORY_POLICY_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/* The program is about to set one. Until then nothing is looked at. Context: any. */
void ckpt_memory_policy_given(void);

/* Notes that of the calling thread, by its place in ckpt_threads_list(): nobody else can read
 * it. Context: the handler in which it parks. */
void ckpt_memory_policy_note(size_t place);

/* Notes that of the leader, and of all memory but excluded[], in the arena. 0 or -errno with
 * the reason. Context: quiesced, on the leader. */
int ckpt_memory_policy_save(struct ckpt_arena *arena, const struct ckpt_range *excluded,
                            size_t excluded_count, struct ckpt_failure *failure);

/* After a restart: those of memory and of the leader are set; if this host lacks the nodes of
 * any, also of another thread's, that is said on standard error and its memory may be anywhere.
 * Before anything else is put into that arena. Context: quiesced, on the leader. */
void ckpt_memory_policy_restore(void);

/* The same for a thread that is made, by its place. Context: freestanding. */
void ckpt_memory_policy_write(size_t place);

#endif
