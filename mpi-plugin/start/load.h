/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load.h - load a lower half and initialise its MPI: at the application's first MPI call, and
 * at a restart.
 */
#ifndef CKPT_LOAD_H
#define CKPT_LOAD_H

#include "ckpt/failure.h"

#include <stdint.h>

/*
 * Loads a lower half into this process and binds the predefined handles.
 * environment: the launcher's; vdso: address of this kernel's vDSO.
 * Context: normal or quiesced. Returns 0 or -errno with a reason.
 */
int ckpt_load(char *const environment[], uint64_t vdso, struct ckpt_failure *failure);

/* Calls MPI_Init_thread in the lower half, with ckpt_thread_level, sets MPI_ERRORS_RETURN and
 * makes our own communicators. Context and result as above. */
int ckpt_load_start(struct ckpt_failure *failure);

#endif
