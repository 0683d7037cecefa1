/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system_v_undo.h - what the kernel would undo of a process's semaphore
 * operations at its end (SEM_UNDO): it does not tell.
 */
#ifndef CKPT_SYSTEM_V_UNDO_H
#define CKPT_SYSTEM_V_UNDO_H

#include <stddef.h>
#include <sys/sem.h>

/* Operations on a set have been done. Context: normal, also in a handler. */
void ckpt_system_v_undo_note(int set, const struct sembuf *operations,
                             size_t count);

/* Semaphore `number` (-1: all) of a set has a new value: nothing is undone.
 * Context: as above. */
void ckpt_system_v_undo_forget(int set, int number);

/* The first semaphore of the set that would be changed at the end, or -1; -2 if
 * there were too many to know. Context: quiesced. */
int ckpt_system_v_undo_find(int set);

#endif
