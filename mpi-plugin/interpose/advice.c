/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.c - note memory that a program gives back by way of advice, and note that it
 * has locked memory or given lasting advice.
 *
 * At a checkpoint the kernel tells which memory has which advice. The checkpoint asks
 * only if there is something to find, as that takes a while.
 *
 * Context of all functions: normal.
 */
#include "config.h"

#include "interpose/give_back.h"
#include "interpose/next.h"
#include "memory/advice.h"
#include "process/attributes.h"
#include "task/credentials.h"
#include "task/thread_attributes.h"

#include <gnu/libc-version.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

/* From 2.41 on libc keeps random-number states in memory with lasting advice (dropped,
 * not inherited at fork). Later versions may seal the objects they load. */
static int libc_gives_advice(void)
{
    char *rest;
    const long major = strtol(gnu_get_libc_version(), &rest, 10);
    const long minor = *rest == '.' ? strtol(rest + 1, NULL, 10) : 0;

    return major > 2 || (major == 2 && minor >= 41);
}

/* Runs before the program changes anything. */
static __attribute__((constructor)) void remember_start(void)
{
    if (libc_gives_advice()) {
        ckpt_advice_given();
    }
    ckpt_attributes_open();
    ckpt_credentials_open();
    ckpt_thread_attributes_open();
}

static int gives_back(int advice)
{
    return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE;
}

static int lasts(int advice)
{
    switch (advice) {
    case MADV_DONTFORK:
    case MADV_DONTDUMP:
    case MADV_WIPEONFORK:
    case MADV_HUGEPAGE:
    case MADV_NOHUGEPAGE:
    case MADV_MERGEABLE:
    case MADV_SEQUENTIAL:
    case MADV_RANDOM:
        return 1;
    default:
        return 0;
    }
}

CKPT_INTERPOSE int madvise(void *start, size_t size, int advice)
{
    if (lasts(advice)) {
        ckpt_advice_given();
    }
    if (gives_back(advice)) {
        ckpt_before_giving_back(start, size);
    }
    return CKPT_NEXT(madvise)(start, size, advice);
}

CKPT_INTERPOSE int posix_madvise(void *start, size_t size, int advice)
{
    ckpt_advice_given();
    return CKPT_NEXT(posix_madvise)(start, size, advice);
}

CKPT_INTERPOSE int mlock(const void *start, size_t size)
{
    ckpt_advice_given();
    return CKPT_NEXT(mlock)(start, size);
}

CKPT_INTERPOSE int mlock2(const void *start, size_t size, unsigned int flags)
{
    ckpt_advice_given();
    return CKPT_NEXT(mlock2)(start, size, flags);
}

CKPT_INTERPOSE int mlockall(int flags)
{
    ckpt_advice_lock_all(flags);
    return CKPT_NEXT(mlockall)(flags);
}

CKPT_INTERPOSE int munlockall(void)
{
    ckpt_advice_lock_all(0);
    return CKPT_NEXT(munlockall)();
}
