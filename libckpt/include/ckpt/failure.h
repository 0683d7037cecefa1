/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.h - why something could not be done, as a text for the user.
 *
 * Functions return 0 or a negative errno; the function that first finds the
 * error fills the text, those above only pass it on. Works in every context.
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
