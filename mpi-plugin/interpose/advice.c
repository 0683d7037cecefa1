/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * advice.c - memory that a program gives back by way of advice, and that it wants all
 * future memory to be locked.
 *
 * What else holds for which memory the kernel tells at a checkpoint.
 *
 * Context of all functions: normal.
 */
#include "config.h"

#include "interpose/give_back.h"
#include "interpose/next.h"
#include "memory/advice.h"
#include "task/attributes.h"
#include "task/credentials.h"
#include "task/thread_attributes.h"

#include <stddef.h>
#include <sys/mman.h>

/* Before the program changes anything. */
static __attribute__((constructor)) void remember_start(void)
{
    ckpt_attributes_open();
    ckpt_credentials_open();
    ckpt_thread_attributes_open();
}

static int gives_back(int advice)
{
    return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE;
}

CKPT_INTERPOSE int madvise(void *start, size_t size, int advice)
{
    if (gives_back(advice)) {
        ckpt_before_giving_back(start, size);
    }
    return CKPT_NEXT(madvise)(start, size, advice);
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
