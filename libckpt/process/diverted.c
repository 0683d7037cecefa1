/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diverted.c - system calls of libc that other code examines first.
 */
#include "process/diverted.h"

#include <stddef.h>

static long (*number_of)(const void *address);
static void (*rewind_context)(ucontext_t *context);

void ckpt_diverted_by(long (*number)(const void *address), void (*rewind)(ucontext_t *context))
{
    number_of = number;
    rewind_context = rewind;
}

long ckpt_diverted_number(const void *address)
{
    return number_of != NULL ? number_of(address) : -1;
}

void ckpt_diverted_rewind(ucontext_t *context)
{
    if (rewind_context != NULL) {
        rewind_context(context);
    }
}
