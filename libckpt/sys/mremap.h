/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mremap.h - the optional argument of mremap(2).
 */
#ifndef CKPT_SYS_MREMAP_H
#define CKPT_SYS_MREMAP_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

/* Returns the requested address of the moved memory, or NULL if the caller passes none.
 * arguments: the arguments after the flags. Context: any. */
static inline void *ckpt_mremap_place(int flags, va_list arguments)
{
    return (flags & (MREMAP_FIXED | MREMAP_DONTUNMAP)) != 0 ? va_arg(arguments, void *) : NULL;
}

#endif
