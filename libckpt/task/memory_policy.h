/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_policy.h - the program's NUMA policies, of threads (set_mempolicy) and of memory
 * (mbind). Policies that the launcher has set remain the launcher's.
 */
#ifndef CKPT_MEMORY_POLICY_H
#define CKPT_MEMORY_POLICY_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/* The program is about to set a policy. Until then the functions below do nothing. Context: any. */
void ckpt_memory_policy_given(void);

/* Records the calling thread's policy, which no other thread can read, under its index in
 * ckpt_threads_list(). Context: the handler in which it parks. */
void ckpt_memory_policy_note(size_t place);

/* Records in the arena the policies of the leader, and of all memory outside of excluded[].
 * Returns 0 or -errno with the reason. Context: quiesced, on the leader. */
int ckpt_memory_policy_save(struct ckpt_arena *arena, const struct ckpt_range *excluded,
                            size_t excluded_count, struct ckpt_failure *failure);

/* After a restart: sets the policies of memory and of the leader. If this host lacks the nodes
 * of a policy, also of another thread's, prints that on standard error; that memory may then be
 * on any node. Call it before that arena is used again. Context: quiesced, on the leader. */
void ckpt_memory_policy_restore(void);

/* Sets the policy of a recreated thread, by its index. Context: freestanding. */
void ckpt_memory_policy_write(size_t place);

#endif
