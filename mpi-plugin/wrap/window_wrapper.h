/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_wrapper.h - checks and flushes shared by the synchronisation wrappers.
 */
#ifndef CKPT_WINDOW_WRAPPER_H
#define CKPT_WINDOW_WRAPPER_H

#include "handles/window.h"
#include "handles/wrapper.h"

/* Refuses a null handle, and then other errors: `code` is evaluated only for a
 * valid window. */
#define CKPT_REQUIRE_WINDOW(win, code, name)              \
    do {                                                  \
        int wrong_;                                       \
        if (!ckpt_window_valid(win)) {                    \
            return ckpt_error(NULL, MPI_ERR_WIN, (name)); \
        }                                                 \
        wrong_ = (code);                                  \
        if (wrong_ != MPI_SUCCESS) {                      \
            return ckpt_error((win), wrong_, (name));     \
        }                                                 \
    } while (0)

/* Returns MPI_ERR_ASSERT if the assertion has bits that the call does not
 * allow. */
static inline int ckpt_check_assert(int assert, int allowed)
{
    return (assert & ~allowed) == 0 ? MPI_SUCCESS : MPI_ERR_ASSERT;
}

/* Completes this rank's operations at their targets. Between begin and end. */
static inline int ckpt_window_flush(MPI_Win win)
{
    int code = MPI_SUCCESS;

    if (win->dirty != CKPT_DIRTY_NONE) {
        CKPT_CALL(code, Win_flush_all, CKPT_LOWER(win));
        win->dirty = CKPT_DIRTY_NONE;
    }
    return code;
}

/* Makes other ranks' operations visible to this rank's loads, and its stores
 * visible to others. For an independent window that takes no lower-half call.
 * Between begin and end. */
static inline int ckpt_window_sync_memory(MPI_Win win)
{
    int code = MPI_SUCCESS;

    if (win->independent != NULL) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    } else {
        CKPT_CALL(code, Win_sync, CKPT_LOWER(win));
    }
    return code;
}

#endif
