/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_wrapper.h - what the wrappers of synchronisation calls begin with.
 */
#ifndef CKPT_WINDOW_WRAPPER_H
#define CKPT_WINDOW_WRAPPER_H

#include "handles/window.h"
#include "wrap/wrapper.h"

/* Refuses a null handle, and then what else is wrong: `code` is evaluated for a
 * window that is one. */
#define CKPT_REQUIRE_WINDOW(win, code, name)                                   \
    do {                                                                       \
        int wrong_;                                                            \
        if (!ckpt_window_valid(win)) {                                         \
            return ckpt_error(NULL, MPI_ERR_WIN, (name));                      \
        }                                                                      \
        wrong_ = (code);                                                       \
        if (wrong_ != MPI_SUCCESS) {                                           \
            return ckpt_error((win), wrong_, (name));                          \
        }                                                                      \
    } while (0)

/* MPI_ERR_ASSERT if the assertion has bits that do not belong to the call. */
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

/* Loads see what others have done, and others what this rank has stored: of memory that is
 * ours, without a call. Between begin and end. */
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
