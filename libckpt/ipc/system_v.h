/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v.h - System V shared memory, semaphores and message queues that the
 * program uses. The kernel does not tell whose they are: who uses one is known
 * by its calls.
 */
#ifndef CKPT_SYSTEM_V_H
#define CKPT_SYSTEM_V_H

#include "ckpt/failure.h"

enum ckpt_system_v_kind {
    CKPT_SYSTEM_V_MEMORY = 1,
    CKPT_SYSTEM_V_SEMAPHORES = 2,
    CKPT_SYSTEM_V_QUEUE = 3,
};

/* The program has used an object. Returns `id`; a negative one is not noted.
 * Changes no errno. Context: normal, also in a signal handler. */
int ckpt_system_v_note(enum ckpt_system_v_kind kind, int id);

/*
 * 0 if none of the objects noted is left, else -ENOTSUP with kind, id and key
 * of one in `failure`: they are outside of the process, and would keep their
 * present state while it goes back. Context: quiesced.
 */
int ckpt_system_v_require_none(struct ckpt_failure *failure);

#endif
