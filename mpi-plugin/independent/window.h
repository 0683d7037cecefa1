/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - windows of MPI_Win_allocate and MPI_Win_allocate_shared whose members are on
 * one node, in a job with independent checkpoints (docs/windows.md, sections 3 and 5).
 *
 * All memory of such a window is mapped by all its members (handles/window_shared.h), so
 * nothing goes through the lower half. An origin *stages* what it means to change, in its
 * log, and *delivers* it when it synchronises: a target's memory never has what its
 * origin has not released (but for direct puts: independent/direct.h), and a log never
 * lacks what a memory has.
 *
 * The memory is divided into *pieces*, which are logged, saved and replayed: of
 * MPI_Win_allocate each rank's is one; of MPI_Win_allocate_shared, to which all ranks
 * store directly, there is one, number 0, for all. A shared piece has a *released image*:
 * what has been captured of it (independent/capture.h).
 */
#ifndef CKPT_INDEPENDENT_WINDOW_H
#define CKPT_INDEPENDENT_WINDOW_H

#include "handles/window.h"
#include "handles/window_shared.h"
#include "independent/record.h"
#include "independent/volatile_log.h"

#pragma GCC visibility push(hidden)

struct ckpt_private;

/* This process's part. */
struct ckpt_independent_window {
    struct ckpt_record *record;
    uint64_t id; /* of its communicator */
    uint64_t fences;       /* that this rank has come to */
    uint64_t *posted;      /* [count] times this rank has posted to each */
    uint64_t *started;     /* [count] epochs with each target that it has begun */
    uint64_t *completed;   /* [count] of these, ended */
    uint64_t *heard;       /* [count] epochs of each origin that it has waited for */
    uint32_t *staged;      /* [count] records that wait for delivery, by piece */
    uint32_t *placed;      /* [count] of these, in memory already, all before the others */
    int is_direct;         /* puts are placed (independent/direct.h) */
    char *released;        /* the released image, as long as the piece; NULL: not shared */
    uint8_t *written;      /* [pages] of it, not 0: perhaps to be captured */
    int tracked;           /* from now on `written` and the watch miss no page */
    struct ckpt_private *private; /* independent/private_memory.h; or NULL */
};

/*
 * What all members do together when a window has been made, and its memory mapped: from
 * then on it is one of these, if it can be. Collective; between begin and end. Returns an
 * MPI error code.
 */
int ckpt_independent_adopt(MPI_Win win);
void ckpt_independent_forget(MPI_Win win);

/* A window that is none of these, although the job takes independent checkpoints: nobody
 * can be replayed who uses it. NULL: there is none. */
MPI_Win ckpt_independent_uncovered(void);

/* The window with an id; NULL: it has been freed. */
MPI_Win ckpt_independent_find(uint64_t id);

/* All of them, in no order; NULL behind the last one. */
MPI_Win ckpt_independent_first(void);
MPI_Win ckpt_independent_next(MPI_Win win);

/* A rank's memory, as all see it. */
static inline char *ckpt_independent_memory(MPI_Win win, int rank)
{
    return win->shared->start + win->shared->segment[rank].offset;
}

/* ---- Pieces ------------------------------------------------------------------- */

static inline int ckpt_window_is_shared(MPI_Win win)
{
    return win->independent->released != NULL;
}

/* Which piece a rank's memory is in. */
static inline int ckpt_piece_of(MPI_Win win, int rank)
{
    return ckpt_window_is_shared(win) ? 0 : rank;
}

/* The one of this rank's own memory, which it has to itself in a replay. */
static inline int ckpt_own_piece(MPI_Win win)
{
    return ckpt_piece_of(win, win->comm->rank);
}

static inline char *ckpt_piece_memory(MPI_Win win, int piece)
{
    return ckpt_independent_memory(win, piece);
}

/* Of the own one, bytes in whole pages. */
size_t ckpt_own_piece_size(MPI_Win win);

/* The newest interval of this rank that is in the newest checkpoints of all who may want
 * to replay what was done to a piece. */
uint64_t ckpt_piece_kept(MPI_Win win, int piece);

/* Asks those in whose newest checkpoints an interval of this rank's is not for another one,
 * once for each that they take. */
void ckpt_piece_ask(MPI_Win win, int piece, uint64_t interval);

/* What was done to a piece in an interval of this rank's cannot be told any more: those
 * who would need it cannot be replayed before they have been saved anew. */
void ckpt_piece_lost(MPI_Win win, int piece, uint64_t interval);

#pragma GCC visibility pop

#endif
