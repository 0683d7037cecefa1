/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * children.h - processes that the program has started.
 */
#ifndef CKPT_CHILDREN_H
#define CKPT_CHILDREN_H

#include "base/arena.h"
#include "ckpt/failure.h"

/*
 * A process that the program has started would not be there after a restart,
 * nor could the program wait for it. Returns 0 if there is none but those for
 * which is_lower(pid) is 1, else -ENOTSUP with its pid and command in
 * `failure`. Context: quiesced.
 */
int ckpt_children_refuse(struct ckpt_arena *arena, int (*is_lower)(int pid),
                         struct ckpt_failure *failure);

#endif
