/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_components.h - the components that Open MPI has open, and their names in its parameters.
 */
#ifndef CKPT_HOST_COMPONENTS_H
#define CKPT_HOST_COMPONENTS_H

#include "lower/components.h"

/*
 * Lists the components that are open. Called after MPI_Init of the library. Returns 0;
 * -ENOTSUP if the library does not tell (it is not Open MPI); -E2BIG if the names are too long;
 * -EPROTO if a variable is not what it should be. Context of both: normal (lower half).
 */
int ckpt_host_components(struct ckpt_components *found);

/*
 * Sets a variable in the environment of the lower half. Called before MPI_Init, so that the library
 * reads it there. Copies both texts. Returns 0 or -errno.
 */
int ckpt_host_set_variable(const char *name, const char *value);

#endif
