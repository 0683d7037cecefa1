/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_library.h - the MPI library of the lower half.
 */
#ifndef CKPT_HOST_LIBRARY_H
#define CKPT_HOST_LIBRARY_H

#include "lower/lower.h"

/*
 * Opens table->library, and the adapter beside ckpt-host if the library is
 * MPICH's. host_path: path of ckpt-host. Returns 0, or -errno with
 * table->failure. Context of all: normal (lower half).
 */
int ckpt_host_library_open(struct ckpt_lower *table, const char *host_path);

/* Returns the function PMPI_X, with the types of Open MPI, or NULL. */
void *ckpt_host_library_function(const char *name);

/* Returns the object behind the symbol of a predefined object, or NULL. */
void *ckpt_host_library_object(const char *symbol);

/* Returns 1 if the address is inside the MPI library itself, and the library is
 * MPICH's. */
int ckpt_host_library_has(void *address);

#endif
