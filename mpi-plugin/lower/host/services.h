/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * services.h - blocking MPI calls that can be interrupted.
 */
#ifndef CKPT_SERVICES_H
#define CKPT_SERVICES_H

#include "lower/lower.h"

/*
 * Looks up the MPI functions that the services call and enters the services
 * into the table. The MPI library must be open (host_library.h). Returns 0, or
 * -ENOTSUP with the missing function's name in table->failure. Context: normal
 * (lower half).
 */
int ckpt_services_open(struct ckpt_lower *table);

#endif
