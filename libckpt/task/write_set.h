/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_set.h - records which bytes of some memory this process changes. That includes bytes
 * that it changes back, which a comparison of before and after cannot show.
 *
 * The memory is read-only meanwhile, and each instruction that stores there runs as a single
 * step, which takes some microseconds. A system call that writes there fails with EFAULT. A
 * process has at most one set at a time.
 */
#ifndef CKPT_WRITE_SET_H
#define CKPT_WRITE_SET_H

#include <stddef.h>
#include <stdint.h>

/* A part of the memory; owned by the caller, in use from add to free. */
struct ckpt_write_set {
    char *start;
    size_t size;
    char *seen;       /* the content after the last store */
    uint8_t *changed; /* [size] 1: the byte has had a value other than the first */
    struct ckpt_write_set *next;
};

/* Adds private writable memory of whole pages, before the set begins. Returns 0 or -ENOMEM.
 * Context: any thread; no other thread stores there meanwhile. */
int ckpt_write_set_add(struct ckpt_write_set *part, char *start, size_t size);

/* begin: starts to record stores; returns 0 or -errno. end: stops; returns 0, or -EINTR if
 * stores may have been missed because the program had a fault of its own. SIGSEGV and SIGTRAP
 * are ours meanwhile. Context: normal. */
int ckpt_write_set_begin(void);
int ckpt_write_set_end(void);

/* Removes all parts from the set and frees their memory. Context: normal. */
void ckpt_write_set_free(void);

/* Returns 1 if this handler of SIGTRAP is the set's, which handles single steps. Context:
 * any. */
int ckpt_write_set_handles(const void *handler);

#endif
