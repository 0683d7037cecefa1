/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.h - starting MPI in a lower half.
 */
#ifndef CKPT_INIT_H
#define CKPT_INIT_H

#include "ckpt/failure.h"

#include <stddef.h>

/* Calls MPI_Init_thread in the lower half, with the level the application
 * asked for, and makes it return errors. 0 or -errno with a reason. */
int ckpt_init_lower(struct ckpt_failure *failure);

/* MPI_Session_init: MPI begins, if it has not, with this thread level; and ends
 * with the process. Context: normal. */
void ckpt_init_session(int required);

/* Path of one of our programs (ckpt-host, ckptd). Context: any. */
void ckpt_runtime_tool(char *path, size_t size, const char *name);

#endif
