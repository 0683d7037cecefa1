/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export.h - for functions of ckpt-host that stand before libc's.
 */
#ifndef CKPT_EXPORT_H
#define CKPT_EXPORT_H

#include <dlfcn.h>
#include <errno.h>

/* Marks a function that wins over libc's for everything in the lower half. */
#define CKPT_EXPORT __attribute__((visibility("default")))

/* libc's own function of this name, with its type. */
#define CKPT_NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A raw system call's result as libc returns it. */
static inline long ckpt_libc_result(long result)
{
    if ((unsigned long)result > -4096ul) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#endif
