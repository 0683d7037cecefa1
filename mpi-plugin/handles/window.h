/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - windows of remote memory (MPI 3.1, chapter 11).
 *
 * A checkpoint must be possible in the middle of epochs: many programs spend
 * their lives in an epoch of MPI_Win_lock_all, or between two fences. So the
 * window of the lower half stays in one access epoch for its whole life
 * (MPI_Win_lock_all without a check). In that epoch everything may be flushed
 * at any time. The upper half keeps the application's epochs. It builds them
 * from operations that can be left and saved. A fence is a flush and a barrier.
 * MPI_Win_post and its like are messages. A lock is a word that is taken with
 * atomic operations. All that uses a private communicator, a duplicate of the
 * window's, which is saved and made again like every other.
 */
#ifndef CKPT_WINDOW_H
#define CKPT_WINDOW_H

#include "handles/communicator.h"
#include "handles/handles.h"

struct ckpt_shared;             /* handles/window_shared.h */
struct ckpt_independent_window; /* independent/window.h */

/* Memory attached to a dynamic window. */
struct ckpt_attached {
    struct ckpt_attached *next;
    void *base;
    MPI_Aint size;
};

/* The ranks that a PSCW epoch is with. */
struct ckpt_partners {
    int *ranks; /* in the window's group, from malloc; NULL: no epoch */
    int count;
    int heard; /* number of ranks, from the first, that have completed */
};

enum ckpt_fence {
    CKPT_FENCE_NONE = 0,
    CKPT_FENCE_OPEN, /* an epoch has begun if the application uses it */
    CKPT_FENCE_USED,
};

/* How a process holds the lock of a target. */
enum ckpt_lock {
    CKPT_LOCK_NONE = 0,
    CKPT_LOCK_SHARED,
    CKPT_LOCK_EXCLUSIVE,
    CKPT_LOCK_UNCHECKED, /* MPI_MODE_NOCHECK: nothing was taken */
};

/* Words of a rank in the window of locks. */
enum {
    CKPT_LOCK_WORD_OWN, /* holders of this rank's lock */
    CKPT_LOCK_WORD_ALL, /* on rank 0: holders of all; exclusive ones */
    CKPT_LOCK_WORDS
};

/* The target whose operations may be incomplete: none, many, or one rank. */
#define CKPT_DIRTY_NONE (-1)
#define CKPT_DIRTY_MANY (-2) /* else the rank of one target */

struct ompi_win_t {
    struct ckpt_handle handle;
    MPI_Errhandler errhandler; /* NULL: the standard's default */
    MPI_Comm comm;             /* our own duplicate */

    /* The attributes that MPI defines. */
    void *base;
    MPI_Aint size;
    int unit;
    int flavor;
    int model;

    char *infos; /* handles/info.h */
    size_t infos_size;

    /* the library permits operations outside of epochs */
    int lenient;
    size_t room;                                 /* bytes at `base` that we must unmap; 0: none */
    struct ckpt_shared *shared;                  /* memory that all members map, or NULL */
    struct ckpt_independent_window *independent; /* NULL: uses the lower half */
    struct ckpt_attached *attached;

    /* The application's epochs. */
    enum ckpt_fence fence;
    struct ckpt_partners access;   /* MPI_Win_start */
    struct ckpt_partners exposure; /* MPI_Win_post */
    enum ckpt_lock locked_all;
    uint8_t *locked; /* [size of the group], enum ckpt_lock */
    int locked_count;

    int dirty; /* CKPT_DIRTY_NONE ..., or a rank */

    /* Lower window of lock words, NULL with info no_locks; this rank's words:
     * their address in the lower half, and their values at the last cut. */
    MPI_Win locks;
    volatile uint64_t *words;
    uint64_t saved_words[CKPT_LOCK_WORDS];
};

static inline int ckpt_window_valid(MPI_Win win)
{
    return win != NULL && win != MPI_WIN_NULL && win->handle.references != 0;
}

/*
 * Returns an object without a lower window, not in the live list. NULL: out of
 * memory. Context: normal.
 */
MPI_Win ckpt_window_new(int flavor, const char *creator, void *site);

/* Frees the object and all that it owns, but nothing in the lower half, and not
 * win->independent (independent/window.h). */
void ckpt_window_destroy(MPI_Win win);

/*
 * Makes the lower windows over the lower communicator `comm`; all its members
 * call this with the same flavor. Ends with a barrier. Sets `model`,
 * `handle.lower`, `locks` and `words`; the caller has set the rest of the
 * object. Runs with the lower thread pointer. Returns an MPI error code.
 */
int ckpt_window_open(MPI_Win win, MPI_Comm comm);

/* Frees the lower windows; collective. Runs with the lower thread pointer.
 * Returns an MPI error code. */
int ckpt_window_close(MPI_Win win);

/* Completes all operations of this rank at their targets. Returns an MPI error
 * code. Context: place for lower-half calls. */
int ckpt_windows_flush(void);

/* Returns 1 if operations of this rank may be under way. Context: any. */
int ckpt_windows_dirty(void);

/* Copies the data that only lower memory has. Context: quiesced, at the cut. */
void ckpt_windows_save(void);

/* Lists the windows' regions for the snapshot, in any order. The caller
 * excludes each from the scan of all mappings. Returns their number, or -E2BIG.
 * Context: quiesced, at the cut. */
struct ckpt_region;
int ckpt_windows_regions(struct ckpt_region *regions, int capacity);

/* Makes all windows again, in an order that all members share. Context:
 * quiesced. Returns an MPI error code. */
int ckpt_windows_rebuild(void);

/* Returns whether the window bypasses the lower half: independent/window.h. */
static inline int ckpt_window_is_independent(MPI_Win win)
{
    return __builtin_expect(ckpt_window_valid(win) && win->independent != NULL,
                            0);
}

/* Returns whether the application may access a rank's memory at present. */
int ckpt_window_may_access(MPI_Win win, int rank);

/* Translates rank and displacement in a shared window to the lower half's. */
void ckpt_window_translate(MPI_Win win, int *target, MPI_Aint *place);

/*
 * Prepares a call that accesses the memory of *target at *place; translates
 * both for the lower half. Outside of an epoch *target becomes MPI_PROC_NULL,
 * and the result is MPI_ERR_RMA_SYNC: the lower half then checks the other
 * arguments, and does nothing. Context: normal, between ckpt_begin and
 * ckpt_end, together with the call.
 */
static inline int ckpt_window_access(MPI_Win win, int *target, MPI_Aint *place)
{
    if (!ckpt_window_valid(win) || *target < 0 || *target >= win->comm->size) {
        return MPI_SUCCESS;
    }
    if (!ckpt_window_may_access(win, *target)) {
        *target = MPI_PROC_NULL;
        return MPI_ERR_RMA_SYNC;
    }
    if (win->dirty != *target) {
        win->dirty = win->dirty == CKPT_DIRTY_NONE ? *target : CKPT_DIRTY_MANY;
    }
    if (win->shared != NULL) {
        ckpt_window_translate(win, target, place);
    }
    return MPI_SUCCESS;
}

/* Returns the rank whose memory in the lower half contains a target's
 * memory. */
int ckpt_window_owner(MPI_Win win, int rank);

#endif
