/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync.h - synchronisation of windows with independent checkpoints: which calls end an
 * interval, and which make other ranks' intervals known (MPI 3.1, section 11.5;
 * docs/windows.md, section 3).
 *
 * Each function returns an MPI error code, and is called between begin and end, which it
 * may leave and enter again. The callers have checked that the application may make the
 * call.
 */
#ifndef CKPT_INDEPENDENT_SYNC_H
#define CKPT_INDEPENDENT_SYNC_H

#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* Locks of one target, or of all. UNCHECKED: takes no lock. */
int ckpt_sync_lock(MPI_Win win, int target, enum ckpt_lock lock);
int ckpt_sync_unlock(MPI_Win win, int target);
int ckpt_sync_lock_all(MPI_Win win, enum ckpt_lock lock);
int ckpt_sync_unlock_all(MPI_Win win);

/* MPI_Win_sync. ckpt_deliver() and its like implement flushes. */
int ckpt_sync_memory(void);

int ckpt_sync_fence(MPI_Win win);

/* Partners as the caller found them, by rank in the window. */
int ckpt_sync_post(MPI_Win win, const struct ckpt_partners *origins);
int ckpt_sync_start(MPI_Win win, const struct ckpt_partners *targets);
int ckpt_sync_complete(MPI_Win win, const struct ckpt_partners *targets);
int ckpt_sync_wait(MPI_Win win, const struct ckpt_partners *origins);
int ckpt_sync_test(MPI_Win win, const struct ckpt_partners *origins, int *flag);

/* MPI_Barrier of MPI_COMM_WORLD. */
int ckpt_sync_barrier(void);

#pragma GCC visibility pop

#endif
