/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_variables.h - environment variables that a launcher makes for its processes, and that
 * processes of another launch must not have.
 */
#ifndef CKPT_LAUNCHER_VARIABLES_H
#define CKPT_LAUNCHER_VARIABLES_H

/* Returns 1 if the setting ("NAME=value") is one that a launcher makes for its processes.
 * Context: any. */
int ckpt_is_of_launcher(const char *setting);

#endif
