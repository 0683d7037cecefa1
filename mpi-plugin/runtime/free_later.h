/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * free_later.h - return memory to malloc() at a point where calling malloc() is
 * safe.
 *
 * Handles are destroyed also while the rank stands still: in the handler of the
 * checkpoint signal, or while other threads are stopped. A stopped thread may
 * be inside malloc() and hold its lock.
 */
#ifndef CKPT_FREE_LATER_H
#define CKPT_FREE_LATER_H

/* Notes memory of malloc(), or NULL, for a later free(). Context: where
 * ckpt_memory_alloc() may be called; normal or quiesced. */
void ckpt_free_later(void *memory);

/* Frees the noted memory, unless the rank stands still. Context: inside a wrapper. */
void ckpt_free_noted(void);

#endif
