/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h - macros for functions of ckpt-host that replace libc's.
 */
#ifndef CKPT_EXPORT_H
#define CKPT_EXPORT_H

#include <dlfcn.h>
#include <errno.h>

/* Marks a function that replaces libc's for the whole lower half. */
#define CKPT_EXPORT __attribute__((visibility("default")))

/* libc's own function of this name, with its type. */
#define CKPT_NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Converts a raw system call's result to the result that libc returns. */
static inline long ckpt_libc_result(long result)
{
    if ((unsigned long)result > -4096ul) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#endif
