/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - windows of remote memory (MPI 3.1, chapter 11).
 *
 * A checkpoint must be possible in the middle of epochs: programs spend their
 * lives in one of MPI_Win_lock_all, or between two fences. So the window of the
 * lower half is, for the whole of its life, in one access epoch of ours
 * (MPI_Win_lock_all without a check), in which everything may be flushed at any
 * time; the epochs of the application are kept here, and made of what can be
 * left and saved: a fence is a flush and a barrier, MPI_Win_post and its like
 * are messages, a lock is a word that is taken with atomic operations. All that
 * goes over a communicator that nobody else uses, a duplicate of the window's,
 * which is saved and made again like every other.
 */
#ifndef CKPT_WINDOW_H
#define CKPT_WINDOW_H

#include "handles/communicator.h"
#include "handles/handles.h"

struct ckpt_shared; /* handles/window_shared.h */
struct ckpt_independent_window; /* independent/window.h */

/* Memory attached to a dynamic window. */
struct ckpt_attached {
    struct ckpt_attached *next;
    void *base;
    MPI_Aint size;
};

/* Whom a PSCW epoch is with. */
struct ckpt_partners {
    int *ranks; /* in the window's group, from malloc; NULL: no epoch */
    int count;
    int heard; /* of these, the first so many have completed */
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
    CKPT_LOCK_WORD_ALL, /* of rank 0: holders of all locks, and of one alone */
    CKPT_LOCK_WORDS
};

/* Whose operations are not known to be complete. */
#define CKPT_DIRTY_NONE (-1)
#define CKPT_DIRTY_MANY (-2) /* else one target's rank */

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

    int lenient; /* the library lets operations pass outside of epochs */
    size_t room; /* bytes at `base` that are ours to unmap; 0: none */
    struct ckpt_shared *shared; /* memory that all map, or NULL */
    struct ckpt_independent_window *independent; /* or NULL: as all others */
    struct ckpt_attached *attached;

    /* The epochs of the application. */
    enum ckpt_fence fence;
    struct ckpt_partners access;   /* MPI_Win_start */
    struct ckpt_partners exposure; /* MPI_Win_post */
    enum ckpt_lock locked_all;
    uint8_t *locked; /* [size of the group], enum ckpt_lock */
    int locked_count;

    int dirty; /* CKPT_DIRTY_NONE ..., or a rank */

    /* Lower window of lock words, NULL with info no_locks; those of this rank,
     * where the lower half has them and as they were at the last cut. */
    MPI_Win locks;
    volatile uint64_t *words;
    uint64_t saved_words[CKPT_LOCK_WORDS];
};

static inline int ckpt_window_valid(MPI_Win win)
{
    return win != NULL && win != MPI_WIN_NULL && win->handle.references != 0;
}

/*
 * An object without a lower window, not in the live list. NULL: out of memory.
 * Context: normal.
 */
MPI_Win ckpt_window_new(int flavor, const char *creator, void *site);

/* Frees the object and what hangs on it, nothing of the lower half. */
void ckpt_window_destroy(MPI_Win win);

/*
 * Makes the lower windows over the lower communicator `comm`, whose members all
 * call this with the same flavor; ends with a barrier. The object is complete
 * but for `model`, `handle.lower`, `locks` and `words`, which are set. Runs with
 * the lower thread pointer. Returns an MPI error code.
 */
int ckpt_window_open(MPI_Win win, MPI_Comm comm);

/* Frees the lower windows; collective. Runs with the lower thread pointer.
 * Returns an MPI error code. */
int ckpt_window_close(MPI_Win win);

/* Completes all operations of this rank, at their targets. Returns an MPI error
 * code. Context: place for lower-half calls. */
int ckpt_windows_flush(void);

/* 1 if operations of this rank may be under way. Context: any. */
int ckpt_windows_dirty(void);

/* Keeps what only lower memory has. Context: quiesced, at the cut. */
void ckpt_windows_save(void);

/* The regions of the snapshot that windows make, in no order; each is to be
 * left out of the scan of all mappings. Returns their number, or -E2BIG.
 * Context: quiesced, at the cut. */
struct ckpt_region;
int ckpt_windows_regions(struct ckpt_region *regions, int capacity);

/* Makes all windows again, in the order that all members know. Context:
 * quiesced. Returns an MPI error code. */
int ckpt_windows_rebuild(void);

/* Nothing of it goes through the lower half: independent/window.h. */
static inline int ckpt_window_is_independent(MPI_Win win)
{
    return __builtin_expect(ckpt_window_valid(win) && win->independent != NULL,
                            0);
}

/* Whether the application may access a rank's memory now. */
int ckpt_window_may_access(MPI_Win win, int rank);

/* From rank and displacement in a shared window to those of the lower half. */
void ckpt_window_translate(MPI_Win win, int *target, MPI_Aint *place);

/*
 * What a call that accesses the memory of *target at *place needs first; both
 * become what the lower half calls them. Outside of an epoch that is
 * MPI_PROC_NULL, and the result MPI_ERR_RMA_SYNC: the lower half then says what
 * is wrong with the other arguments, and does nothing. Context: normal, between
 * ckpt_begin and ckpt_end, together with the call.
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

/* The rank whose memory in the lower half a target's is part of. */
int ckpt_window_owner(MPI_Win win, int rank);

#endif
