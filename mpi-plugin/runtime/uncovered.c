/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncovered.c - operations that a replay of an independent checkpoint could not repeat.
 */
#include "runtime/uncovered.h"

#include "runtime/hooks.h"

static struct ckpt_independent_rank unread;

struct ckpt_independent_page *ckpt_independent;
struct ckpt_independent_rank *ckpt_independent_self = &unread;
int ckpt_replaying;

void ckpt_replay_begin_present(void)
{
    ckpt_runtime_hooks.end_replay();
}
