/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_undo.h - the semaphore operations that the kernel would undo when
 * the process exits (SEM_UNDO). The kernel does not report them.
 */
#ifndef CKPT_SYSTEM_V_UNDO_H
#define CKPT_SYSTEM_V_UNDO_H

#include <stddef.h>
#include <sys/sem.h>

/* Records completed operations on a set. Context: normal, also in a signal
 * handler. */
void ckpt_system_v_undo_note(int set, const struct sembuf *operations,
                             size_t count);

/* Records that semaphore `number` (-1: all) of a set has a new value, so that
 * the kernel undoes no earlier operation on it. Context: as above. */
void ckpt_system_v_undo_forget(int set, int number);

/* Returns the first semaphore of the set that the kernel would change at the
 * exit, or -1. Returns -2 if the table has overflowed. Context: quiesced. */
int ckpt_system_v_undo_find(int set);

#endif
