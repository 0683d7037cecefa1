/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_attributes.h - what the kernel keeps for each thread that a program may set: the
 * processors it may run on, priority, policy.
 *
 * As in attributes.h: what a thread has like the process had it from its launcher is the new
 * launcher's after a restart.
 */
#ifndef CKPT_THREAD_ATTRIBUTES_H
#define CKPT_THREAD_ATTRIBUTES_H

#include "ckpt/failure.h"

#include <stddef.h>

/* Remembers what the process was started with. Context: normal. */
void ckpt_thread_attributes_open(void);

/* Notes those of the leader and of all parked threads. 0 or -errno with a reason. Context:
 * quiesced, on the leader. */
int ckpt_thread_attributes_save(struct ckpt_failure *failure);

/* After a restart: those of the leader are set, as far as the user may here. Threads that
 * are made have them, too, until they set their own. Context: quiesced, on the leader. */
void ckpt_thread_attributes_restore(void);

/* The same for the calling thread, which has been made by the leader, by its place in
 * ckpt_threads_list(). Context: freestanding. */
void ckpt_thread_attributes_write(size_t place);

#endif
