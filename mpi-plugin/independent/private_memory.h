/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private_memory.h - the window memory of a replayed rank, as its own pages. So the rank does
 * not see the others' later changes, and they do not see its earlier ones. It contains the
 * rank's own piece of each window, or all of it if the window is shared.
 *
 * It begins as it was at the checkpoint. A shared piece begins as its released image was then,
 * without others' unreleased changes. Later deliveries of other ranks come from their logs,
 * in the order in which they were delivered, up to the vector time. Of two records for the same
 * place the later one stays, even if the earlier one becomes known after it (docs/windows.md,
 * section 6).
 */
#ifndef CKPT_INDEPENDENT_PRIVATE_MEMORY_H
#define CKPT_INDEPENDENT_PRIVATE_MEMORY_H

#include "independent/window.h"
#include "task/write_set.h"

#pragma GCC visibility push(hidden)

/* Private memory of a window, from ckpt_private_prepare() on. */
struct ckpt_private {
    size_t size;               /* of `kept` and `live`, in bytes, whole pages */
    char *kept;                /* the memory at the checkpoint */
    uint64_t *seen;            /* [count] V: newest interval of each origin in `kept` */
    uint64_t *cursor;          /* [count] where to continue in each origin's log */
    char *live;                /* in a replay: the shared pages */
    struct ckpt_write_set own; /* changes of the program from ckpt_private_mark() on */
};

/* For a checkpoint: _prepare allocates room for copies of the memory of all windows; returns 0
 * or -ENOMEM, without room. _remember makes the copies, while no other rank may change the
 * memory. _dismiss frees them. */
int ckpt_private_prepare(void);
void ckpt_private_remember(void);
void ckpt_private_dismiss(void);

/* Returns V of one origin at the last ckpt_private_remember(). */
uint64_t ckpt_private_seen(MPI_Win win, int origin);

/* Called in a replay, in this order. The application sees private memory from _begin to _end.
 * _end copies to the shared memory the bytes that the application has changed since _mark, even
 * if it has changed them back. The shared memory may have a part of these changes, as the rank
 * was killed in the middle of them. */
void ckpt_private_begin(void);
void ckpt_private_bring_up(void);
void ckpt_private_apply(MPI_Win win, struct ckpt_log_record *record);
void ckpt_private_mark(void);
void ckpt_private_end(void);

#pragma GCC visibility pop

#endif
