/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.h - the reason of a failure, as a text for the user.
 *
 * Functions return 0 or a negative errno. The function that first detects the
 * error fills in the text; its callers only pass it on. Context: any.
 */
#ifndef CKPT_FAILURE_H
#define CKPT_FAILURE_H

struct ckpt_failure {
    char text[400]; /* NUL-terminated; empty if nothing failed */
};

/*
 * Formats a reason. Conversions: %s %d (int) %u (unsigned) %l (long)
 * %x (unsigned long, hexadecimal) %%. No libc, no locks, no allocation.
 * Returns `error` so that a caller can write `return ckpt_fail(...)`.
 * Context: any.
 */
int ckpt_fail(struct ckpt_failure *failure, int error, const char *format, ...);

#endif
