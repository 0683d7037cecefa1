/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * children.h - finds processes that the program has started.
 */
#ifndef CKPT_CHILDREN_H
#define CKPT_CHILDREN_H

#include "base/arena.h"
#include "ckpt/failure.h"

/*
 * Checks for children: a child would not exist after a restart, and waiting for
 * it would fail. Returns 0 if is_lower(pid) is 1 for every child. Otherwise
 * returns -ENOTSUP with the pid and command of a child in `failure`. Context:
 * quiesced.
 */
int ckpt_children_refuse(struct ckpt_arena *arena, int (*is_lower)(int pid),
                         struct ckpt_failure *failure);

#endif
