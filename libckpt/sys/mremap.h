/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mremap.h - the argument of mremap(2) that is not always there.
 */
#ifndef CKPT_SYS_MREMAP_H
#define CKPT_SYS_MREMAP_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

/* Where the memory is to go, or NULL if the caller does not say. arguments: what comes
 * after the flags. Context: any. */
static inline void *ckpt_mremap_place(int flags, va_list arguments)
{
    return (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 ? va_arg(arguments, void *) : NULL;
}

#endif
