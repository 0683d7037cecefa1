/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.h - starting MPI in a lower half.
 */
#ifndef CKPT_INIT_H
#define CKPT_INIT_H

#include "ckpt/failure.h"

#include <stddef.h>

/* Calls MPI_Init_thread in the lower half, with the level the application asked
 * for, and sets MPI_ERRORS_RETURN. Returns 0 or -errno with a reason. */
int ckpt_init_lower(struct ckpt_failure *failure);

/* Called by MPI_Session_init: starts MPI with this thread level if it has not
 * begun. MPI then ends with the process. Context: normal. */
void ckpt_init_session(int required);

/* Writes the path of one of our programs (ckpt-host, ckptd). Context: any. */
void ckpt_runtime_tool(char *path, size_t size, const char *name);

#endif
