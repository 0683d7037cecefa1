/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private_memory.h - the window memory of a rank that is replayed, as its own pages: so
 * that it does not see the future, nor the others its past. That is its own piece of each
 * window, all of it if the window is shared.
 *
 * It begins as it was at the checkpoint; what is shared, as its released image was (what
 * others had not released by then is not there). What others have delivered since is taken from
 * their logs, in the order in which it was delivered, as far as the vector time goes. Of
 * two records for the same place the later one stays, also if the earlier one becomes
 * known after it (docs/windows.md, section 6).
 */
#ifndef CKPT_INDEPENDENT_PRIVATE_MEMORY_H
#define CKPT_INDEPENDENT_PRIVATE_MEMORY_H

#include "independent/window.h"
#include "task/write_set.h"

#pragma GCC visibility push(hidden)

/* Of a window, from ckpt_private_prepare() on. */
struct ckpt_private {
    size_t size;       /* bytes of what follows, whole pages */
    char *kept;        /* the memory at the checkpoint */
    uint64_t *seen;    /* [count] V: the newest interval of each origin that is in it */
    uint64_t *cursor;  /* [count] where the log of each is to be read on */
    char *live;        /* in a replay: the memory that all share */
    struct ckpt_write_set own; /* and what the program changes from ckpt_private_mark() on */
};

/* At a checkpoint: room for copies of the memory of all windows; copies, which nobody else
 * may change meanwhile; and the end of that. 0 or -ENOMEM: there is none. */
int ckpt_private_prepare(void);
void ckpt_private_remember(void);
void ckpt_private_dismiss(void);

/* V at the last ckpt_private_remember(), of one origin. */
uint64_t ckpt_private_seen(MPI_Win win, int origin);

/* In a replay, in this order. The application sees private memory from begin to end; what
 * it has changed since the mark, and perhaps changed back, is then brought into the memory
 * that all share: there it may be half done, as the rank was killed in the middle of it. */
void ckpt_private_begin(void);
void ckpt_private_bring_up(void);
void ckpt_private_apply(MPI_Win win, struct ckpt_log_record *record);
void ckpt_private_mark(void);
void ckpt_private_end(void);

#pragma GCC visibility pop

#endif
