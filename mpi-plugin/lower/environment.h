/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h - the environment variables of the lower half.
 */
#ifndef CKPT_ENVIRONMENT_H
#define CKPT_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * How much the lower half's environment takes at most: returns the bytes of
 * its strings, sets *count_p to the number of strings. Context: any.
 */
size_t ckpt_environment_measure(char *const environment[], size_t *count_p);

/*
 * Writes the strings to `text` and their addresses to `vector`, which have
 * room as measured. Returns the number of strings. Context: any.
 */
size_t ckpt_environment_write(char *const environment[], char *text,
                              uint64_t *vector);

/* The value of a variable, or NULL. Context: any. */
const char *ckpt_environment_value(char *const environment[], const char *name);

#endif
