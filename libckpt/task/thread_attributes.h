/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_attributes.h - attributes of a thread that a program may set: the processors on which
 * it may run, priority, policy.
 *
 * As in attributes.h: if a thread's attribute has the value that the old launcher set for the
 * process, a restart gives it the new launcher's value.
 */
#ifndef CKPT_THREAD_ATTRIBUTES_H
#define CKPT_THREAD_ATTRIBUTES_H

#include "ckpt/failure.h"

#include <stddef.h>

/* Records the attributes at the start of the process. Context: normal. */
void ckpt_thread_attributes_open(void);

/* Records the attributes of the leader and of all parked threads. Returns 0 or -errno with the
 * reason. Context: quiesced, on the leader. */
int ckpt_thread_attributes_save(struct ckpt_failure *failure);

/* After a restart: sets the leader's attributes, as far as this user may. Recreated threads
 * inherit them until they set their own. Context: quiesced, on the leader. */
void ckpt_thread_attributes_restore(void);

/* Sets the attributes of the calling thread, which the leader has created, by its index in
 * ckpt_threads_list(). Context: freestanding. */
void ckpt_thread_attributes_write(size_t place);

#endif
