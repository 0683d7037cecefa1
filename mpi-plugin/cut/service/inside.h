/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inside.h - a rank that the checkpoint signal finds inside a call of the lower
 * half which it cannot leave. It answers from the handler, and stays in the
 * call.
 */
#ifndef CKPT_INSIDE_H
#define CKPT_INSIDE_H

#include "ckpt/wire.h"

/* Handles the checkpoint signal on the MPI thread, with the upper thread
 * pointer. in_lower: the signal interrupted the lower half. Context: signal
 * handler. */
void ckpt_notify(int in_lower);

/* Obeys a message while the rank is inside. flags: CKPT_INSIDE_* of the place.
 * Context: signal handler, or as a service while another thread is inside. */
void ckpt_obey_inside(const struct ckpt_message *message, uint64_t flags);

#endif
