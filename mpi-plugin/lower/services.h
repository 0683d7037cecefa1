/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * services.h - blocking calls of MPI that can be left half-way.
 */
#ifndef CKPT_SERVICES_H
#define CKPT_SERVICES_H

#include "lower/lower.h"

/*
 * Looks up what the services call in the MPI library, which must be open
 * (host_library.h), and enters them into the table. Context: normal (lower
 * half). Returns 0, or -ENOTSUP with the missing function's name in
 * table->failure.
 */
int ckpt_services_open(struct ckpt_lower *table);

#endif
