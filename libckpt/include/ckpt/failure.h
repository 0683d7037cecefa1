/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.h - the reason of a failure: its identity, and a text for the user.
 *
 * Functions return 0 or a negative errno. The function that first detects the
 * error fills in the reason; its callers only pass it on. Context: any.
 */
#ifndef CKPT_FAILURE_H
#define CKPT_FAILURE_H

#include "ckpt/refusals.h"

struct ckpt_failure {
    char text[400]; /* NUL-terminated; empty if nothing failed */
    enum ckpt_refusal identity;
};

/*
 * Formats the reason of a refusal. Conversions: %s %d (int) %u (unsigned)
 * %l (long) %x (unsigned long, hexadecimal) %%. No libc, no locks, no
 * allocation. Returns `error` so that a caller can write
 * `return ckpt_refuse(...)`. Context: any.
 */
int ckpt_refuse(struct ckpt_failure *failure, enum ckpt_refusal identity, int error,
                const char *format, ...);

/* Likewise for a call that fails with `error` although nothing forbids it. The identity is that of
 * the error: no-memory, no-space, too-many-descriptors, otherwise system-error. */
int ckpt_fail(struct ckpt_failure *failure, int error, const char *format, ...);

#endif
