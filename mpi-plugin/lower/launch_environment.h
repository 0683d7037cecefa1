/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_environment.h - the environment of a process that leaves one launcher for another.
 */
#ifndef CKPT_LAUNCH_ENVIRONMENT_H
#define CKPT_LAUNCH_ENVIRONMENT_H

#include "ckpt/failure.h"

#include <stddef.h>

/* Limits of a whole environment: those of the plugin's own copy (runtime/runtime.c). */
#define CKPT_ENVIRONMENT_ENTRIES 8192
#define CKPT_ENVIRONMENT_BYTES   (1024 * 1024)

/* A new environment: its strings, and their addresses with a NULL after the last. */
struct ckpt_launch_environment {
    char *entries[CKPT_ENVIRONMENT_ENTRIES];
    char text[CKPT_ENVIRONMENT_BYTES];
};

/*
 * Writes to `to` what the new launcher gives, and the rest of the old environment: all but what
 * the old launcher made, and the variables that the new one gives.
 * block: the new launcher's settings, `size` bytes, with a NUL after each.
 * Context: any. Returns 0; -EPROTO with a reason if the block is not such a list, or -E2BIG.
 */
int ckpt_launch_environment_make(char *const old[], const char *block, size_t size,
                                 struct ckpt_launch_environment *to,
                                 struct ckpt_failure *failure);

#endif
