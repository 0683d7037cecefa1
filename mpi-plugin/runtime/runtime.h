/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime.h - the plugin's life in a process: before MPI_Init it does nothing.
 */
#ifndef CKPT_RUNTIME_H
#define CKPT_RUNTIME_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

enum ckpt_runtime_phase {
    CKPT_RUNTIME_BEFORE = 0, /* MPI_Init not called yet */
    CKPT_RUNTIME_ACTIVE,
    CKPT_RUNTIME_FINALIZED,
};

enum ckpt_runtime_phase ckpt_runtime_phase(void);

/*
 * Records the launch that this process belongs to now, before any code reads
 * the launch's environment. ckpt_runtime_load() does this, too. environment:
 * the launcher's; vdso: address of this kernel's vDSO. Context: normal or
 * quiesced.
 */
void ckpt_runtime_enter(char *const environment[], uint64_t vdso);

/* Returns the address of this kernel's vDSO, also after a restart. Context:
 * normal. */
uint64_t ckpt_runtime_vdso(void);

/* Records the process as it was started, before the first checkpoint; a second
 * call does nothing. Context: normal. */
void ckpt_runtime_open_process(void);

/*
 * Loads a lower half into this process and binds the predefined handles. Both
 * the application's first MPI call and a restart use it.
 * environment: the launcher's; vdso: address of this kernel's vDSO.
 * Context: normal or quiesced. Returns 0 or -errno with a reason.
 */
int ckpt_runtime_load(char *const environment[], uint64_t vdso,
                      struct ckpt_failure *failure);

/* Initialises MPI in the lower half, with the thread level of the first time.
 * Context and result as above. */
int ckpt_runtime_start(struct ckpt_failure *failure);

/* For functions that are allowed before MPI_Init: loads a lower half if there
 * is none yet. Ends the process if that fails. Context: normal. */
void ckpt_runtime_need_library(void);

/* The environment of the launch that this process belongs to at present. */
char *const *ckpt_runtime_environment(void);
const char *ckpt_runtime_getenv(const char *name);

/* Returns 0 if the lower half is loaded, else an MPI_T error code. For MPI_T
 * calls, which the standard allows before MPI_Init. */
int ckpt_require_lower(void);

/* Lists the ranges of all lower-half memory, to exclude them from the image.
 * Returns the count, or -EAGAIN if the lower half is just changing its memory.
 * Context: quiesced. */
int ckpt_runtime_lower_ranges(struct ckpt_range *ranges, int capacity);



#endif
