/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime.h - life of the plugin in a process: before MPI_Init it does nothing.
 */
#ifndef CKPT_RUNTIME_H
#define CKPT_RUNTIME_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

enum ckpt_runtime_phase {
    CKPT_RUNTIME_BEFORE = 0, /* MPI_Init not yet called */
    CKPT_RUNTIME_ACTIVE,
    CKPT_RUNTIME_FINALIZED,
};

enum ckpt_runtime_phase ckpt_runtime_phase(void);

/*
 * Loads a lower half into this process and initialises its MPI, with the
 * thread level of the first time; binds the predefined handles. Used by
 * MPI_Init and by a restart alike.
 * environment: the launcher's; vdso: address of this kernel's vDSO.
 * Context: normal or quiesced. Returns 0 or -errno with a reason.
 */
int ckpt_runtime_load(char *const environment[], uint64_t vdso,
                      struct ckpt_failure *failure);

/* The environment of the launch that this process belongs to now. */
char *const *ckpt_runtime_environment(void);
const char *ckpt_runtime_getenv(const char *name);

/* 0 if the lower half is loaded, else an MPI_T error code. For MPI_T calls,
 * which the standard allows before MPI_Init. */
int ckpt_require_lower(const char *function);

/* The range of all lower-half memory, for the image. Returns the count.
 * Context: quiesced. -EAGAIN if the lower half is just changing it. */
int ckpt_runtime_lower_ranges(struct ckpt_range *ranges, int capacity);


/* MPI_Wtime goes on where it was at the checkpoint. */
void ckpt_wtime_stop(void);
void ckpt_wtime_continue(void);

#endif
