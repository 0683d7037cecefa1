/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.h - the environment variables of the lower half.
 */
#ifndef CKPT_ENVIRONMENT_H
#define CKPT_ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Computes the maximum size of the lower half's environment: returns the bytes
 * of its strings, sets *count_p to the number of strings. Context: any.
 */
size_t ckpt_environment_measure(char *const environment[], size_t *count_p);

/*
 * Writes the strings to `text` and their addresses to `vector`; both must have
 * the measured size. Returns the number of strings. Context: any.
 */
size_t ckpt_environment_write(char *const environment[], char *text,
                              uint64_t *vector);

/* Returns the value of a variable, or NULL. Context: any. */
const char *ckpt_environment_value(char *const environment[], const char *name);

#endif
