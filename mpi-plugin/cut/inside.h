/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inside.h - a rank that the checkpoint signal finds inside a call of the lower
 * half which it cannot leave: it answers from the handler, and stays there.
 */
#ifndef CKPT_INSIDE_H
#define CKPT_INSIDE_H

#include "ckpt/wire.h"

/* The checkpoint signal, on the MPI thread, with the upper thread pointer;
 * in_lower: it came in the lower half. Context: signal handler. */
void ckpt_notify(int in_lower);

/* Does what a message asks; flags: CKPT_INSIDE_ of the place. Context: signal
 * handler, or as a service while another thread is inside. */
void ckpt_obey_inside(const struct ckpt_message *message, uint64_t flags);

#endif
