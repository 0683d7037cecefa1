/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_library.h - the MPI library of the lower half.
 */
#ifndef CKPT_HOST_LIBRARY_H
#define CKPT_HOST_LIBRARY_H

#include "lower/lower.h"

/*
 * Opens table->library, and the adapter beside ckpt-host if that is MPICH's.
 * host_path: of ckpt-host. Returns 0, or -errno and table->failure.
 * Context of all: normal (lower half).
 */
int ckpt_host_library_open(struct ckpt_lower *table, const char *host_path);

/* The function PMPI_X, with the types of Open MPI; NULL if there is none. */
void *ckpt_host_library_function(const char *name);

/* What stands behind the symbol of a predefined object; NULL if nothing. */
void *ckpt_host_library_object(const char *symbol);

/* 1 if the address is one of the MPI library itself, and it is MPICH's. */
int ckpt_host_library_has(void *address);

#endif
