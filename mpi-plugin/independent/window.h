/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - windows of MPI_Win_allocate and MPI_Win_allocate_shared whose members are on
 * one node, in a job with independent checkpoints (docs/windows.md, sections 3 and 5).
 *
 * All members map all memory of such a window (handles/window_shared.h), so no operation
 * uses the lower half. An origin *stages* its changes in its log, and *delivers* them when
 * it synchronises. So a target's memory never contains changes that the origin has not
 * released (except direct puts: independent/direct.h), and the log always contains all
 * changes in memory.
 *
 * The memory is divided into *pieces*, which are logged, saved and replayed. In a window
 * of MPI_Win_allocate each rank's memory is one piece. In a window of
 * MPI_Win_allocate_shared, to which all ranks store directly, there is one piece for all,
 * number 0. A shared piece has a *released image*: its captured contents
 * (independent/capture.h).
 */
#ifndef CKPT_INDEPENDENT_WINDOW_H
#define CKPT_INDEPENDENT_WINDOW_H

#include "handles/window.h"
#include "handles/window_shared.h"
#include "independent/log/record.h"
#include "independent/log/volatile_log.h"

#pragma GCC visibility push(hidden)

struct ckpt_private;

/* This process's part of a window. */
struct ckpt_independent_window {
    struct ckpt_record *record;
    uint64_t id;                  /* of its communicator */
    uint64_t fences;              /* fences that this rank has reached */
    uint64_t *posted;             /* [count] times this rank has posted to each */
    uint64_t *started;            /* [count] epochs with each target that this rank has begun */
    uint64_t *completed;          /* [count] of these, the ended ones */
    uint64_t *heard;              /* [count] epochs of each origin awaited so far */
    uint32_t *staged;             /* [count] records that wait for delivery, by piece */
    uint32_t *placed;             /* [count] of these, in memory; the first ones */
    int is_direct;                /* puts are placed (independent/direct.h) */
    char *released;               /* the released image, or NULL: not shared */
    uint8_t *written;             /* [pages] non-zero: the page may need a capture */
    int tracked;                  /* `written` and the watch see every store from now on */
    struct ckpt_private *private; /* independent/private_memory.h; or NULL */
};

/*
 * Called when a window was made and its memory mapped: makes it take part in independent
 * checkpoints, if it can. Collective; between begin and end. Returns an MPI error code.
 */
int ckpt_independent_adopt(MPI_Win win);
void ckpt_independent_forget(MPI_Win win);

/* Returns a window that does not take part, although the job takes independent
 * checkpoints: a rank that uses it cannot be replayed. NULL: there is none. */
MPI_Win ckpt_independent_uncovered(void);

/* Returns the window with an id, or NULL if it was freed. */
MPI_Win ckpt_independent_find(uint64_t id);

/* Iterate over all such windows, in any order; NULL after the last one. */
MPI_Win ckpt_independent_first(void);
MPI_Win ckpt_independent_next(MPI_Win win);

/* Returns a rank's memory, as all ranks see it. */
static inline char *ckpt_independent_memory(MPI_Win win, int rank)
{
    return win->shared->start + win->shared->segment[rank].offset;
}

/* ---- Pieces ------------------------------------------------------------------- */

static inline int ckpt_window_is_shared(MPI_Win win)
{
    return win->independent->released != NULL;
}

/* Returns the piece that contains a rank's memory. */
static inline int ckpt_piece_of(MPI_Win win, int rank)
{
    return ckpt_window_is_shared(win) ? 0 : rank;
}

/* Returns the piece of this rank's own memory, which is private in a replay. */
static inline int ckpt_own_piece(MPI_Win win)
{
    return ckpt_piece_of(win, win->comm->rank);
}

static inline char *ckpt_piece_memory(MPI_Win win, int piece)
{
    return ckpt_independent_memory(win, piece);
}

/* Returns the size of this rank's own piece in bytes, whole pages. */
size_t ckpt_own_piece_size(MPI_Win win);

/* Returns the newest interval of this rank that is in the newest checkpoints of all ranks
 * that may need the writes to a piece. */
uint64_t ckpt_piece_kept(MPI_Win win, int piece);

/* Asks for a checkpoint each rank whose newest one lacks this interval of this rank; once
 * per checkpoint that it takes. */
void ckpt_piece_ask(MPI_Win win, int piece, uint64_t interval);

/* Called when this rank's writes to a piece in an interval are lost: ranks that would need
 * them cannot be replayed before their next checkpoint. */
void ckpt_piece_lost(MPI_Win win, int piece, uint64_t interval);

#pragma GCC visibility pop

#endif
