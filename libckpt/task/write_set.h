/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_set.h - which bytes of some memory this process changes, also those that it changes
 * back: what a comparison of before and after cannot tell.
 *
 * The memory is read-only meanwhile, and each instruction that stores there is executed
 * as a single step: some microseconds for each. A system call that is to write there
 * fails with EFAULT. One set of memory at a time in a process.
 */
#ifndef CKPT_WRITE_SET_H
#define CKPT_WRITE_SET_H

#include <stddef.h>
#include <stdint.h>

/* Some of the memory; the caller's, from add to free. */
struct ckpt_write_set {
    char *start;
    size_t size;
    char *seen;       /* the content after the last store */
    uint8_t *changed; /* [size] 1: the byte has had another value than at the beginning */
    struct ckpt_write_set *next;
};

/* Adds private writable memory of whole pages, before the set begins. 0 or -ENOMEM.
 * Context: any thread, none of the others stores there meanwhile. */
int ckpt_write_set_add(struct ckpt_write_set *part, char *start, size_t size);

/* Stores are noted from here to ckpt_write_set_end(), which says 0, or -EINTR if some may
 * have been missed, as the program has had a fault of its own. SIGSEGV and SIGTRAP are
 * ours meanwhile. Context: normal. 0 or -errno. */
int ckpt_write_set_begin(void);
int ckpt_write_set_end(void);

/* Forgets the set and frees what belongs to its parts. Context: normal. */
void ckpt_write_set_free(void);

/* 1 if this handler of SIGTRAP is the set's, which takes single steps. Context:
 * any. */
int ckpt_write_set_handles(const void *handler);

#endif
