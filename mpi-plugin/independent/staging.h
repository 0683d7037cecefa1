/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staging.h - what this rank means to do to the memory of targets, in its log already,
 * but not delivered (docs/windows.md, section 4).
 */
#ifndef CKPT_INDEPENDENT_STAGING_H
#define CKPT_INDEPENDENT_STAGING_H

#include "independent/layout.h"
#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* One record. Handles are the application's: those of the lower half change. */
struct ckpt_staged {
    uint64_t position; /* of the record in the ring of writes */
    MPI_Win win;
    int piece;
    MPI_Op op; /* NULL: a put */
    MPI_Datatype element;
};

/* Those that wait, in the order of the calls; delivered ones are taken out. */
extern struct ckpt_staged *ckpt_staged;
extern uint32_t ckpt_staged_count;

/*
 * A record for `bytes` of what a layout means, behind the first `skip`, `start` bytes from
 * the base of the target's memory. They are to be filled in, then ckpt_stage_commit()
 * follows; it takes application handles, op is NULL for a put. If the log is full of what
 * others need it is given up: then they, and this rank, cannot be replayed before their
 * next checkpoints. NULL, or -ENOMEM: out of memory, nothing is staged. Between begin and
 * end, which staging may leave and enter.
 */
struct ckpt_log_record *ckpt_stage(MPI_Win win, int target, const struct ckpt_layout *layout,
                                   int64_t start, uint64_t skip, uint64_t bytes);
int ckpt_stage_commit(MPI_Win win, struct ckpt_log_record *record, MPI_Op op,
                      MPI_Datatype element);

/* The same for `count` ranges of a piece, to be filled in, too. */
struct ckpt_log_record *ckpt_stage_ranges(MPI_Win win, int piece, uint32_t count,
                                          uint64_t bytes);

/* What is staged with one record at most: long operations have several. */
#define CKPT_STAGE_PIECE (UINT64_C(1) << 20)

/* Removes from the log what no rank can need any more (log trimming: Sultan 2004, theorem
 * 1): writes that are in the newest checkpoint of their target. */
void ckpt_writes_trim(void);

#pragma GCC visibility pop

#endif
