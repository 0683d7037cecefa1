/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime.h - the plugin's life in a process: before MPI_Init it does nothing.
 */
#ifndef CKPT_RUNTIME_H
#define CKPT_RUNTIME_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

enum ckpt_runtime_phase {
    CKPT_RUNTIME_BEFORE = 0, /* MPI_Init not called yet */
    CKPT_RUNTIME_ACTIVE,
    CKPT_RUNTIME_FINALIZED,
};

/* Returns the phase; start/init.c sets it. Context: any. */
enum ckpt_runtime_phase ckpt_runtime_phase(void);
void ckpt_runtime_set_phase(enum ckpt_runtime_phase phase);

/* The thread level: that of MPI_Init_thread, or less if the library provides less. */
extern int ckpt_thread_level __attribute__((visibility("hidden")));

/*
 * Records the launch that this process belongs to now, before any code reads
 * the launch's environment. ckpt_load() does this, too. environment:
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

/* For functions that are allowed before MPI_Init: loads a lower half if there
 * is none yet. Ends the process if that fails. Context: normal. */
void ckpt_runtime_need_library(void);

/* Starts MPI with this thread level; ends the process if that fails. Context: normal,
 * once. */
void ckpt_runtime_begin(int required);

/* Called before MPI_Finalize: this rank takes part in no more checkpoints. Context:
 * normal. */
void ckpt_runtime_leave(void);

/* Ends the program: MPI cannot begin. Context: normal. */
void ckpt_runtime_give_up(const struct ckpt_failure *failure) __attribute__((noreturn));

/* The environment of the launch that this process belongs to at present. */
char *const *ckpt_runtime_environment(void);
const char *ckpt_runtime_getenv(const char *name);

/* Returns 1 if this rank may come back in place, from a frozen copy that its agent keeps
 * (docs/recovery.md). Context: any. */
int ckpt_runtime_may_come_back(void);

/* If this rank may come back, its end is not to take the time that its memory takes: starts a
 * holder of the memory. Context: normal or quiesced, in the leader. */
void ckpt_runtime_hold_memory(void);

/* Writes the path of one of our programs (ckpt-host, ckptd). Context: any. */
void ckpt_runtime_tool(char *path, size_t size, const char *name);

/* Returns 0 if the lower half is loaded, else an MPI_T error code. For MPI_T
 * calls, which the standard allows before MPI_Init. */
int ckpt_require_lower(void);

/* Lists the ranges of all lower-half memory, to exclude them from the image.
 * Returns the count, or -EAGAIN if the lower half is just changing its memory.
 * Context: quiesced. */
int ckpt_runtime_lower_ranges(struct ckpt_range *ranges, int capacity);

#endif
