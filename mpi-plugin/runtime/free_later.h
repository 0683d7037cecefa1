/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * free_later.h - give memory back to malloc() where malloc() may be called.
 *
 * Handles are destroyed also while the rank stands still: in the handler of the checkpoint
 * signal, or while other threads are stopped. One of them may be inside malloc(), whose
 * lock it holds.
 */
#ifndef CKPT_FREE_LATER_H
#define CKPT_FREE_LATER_H

/* Notes memory of malloc(), or NULL, to be given back. Context: where ckpt_memory_alloc()
 * may be called; normal or quiesced. */
void ckpt_free_later(void *memory);

/* Gives back what was noted, unless the rank stands still. Context: inside a wrapper. */
void ckpt_free_noted(void);

#endif
