/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staging.h - this rank's changes to the memory of targets that are in its log, but not
 * delivered yet (docs/windows.md, section 4).
 */
#ifndef CKPT_INDEPENDENT_STAGING_H
#define CKPT_INDEPENDENT_STAGING_H

#include "independent/log/layout.h"
#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* One record. Handles are the application's, because lower handles change. */
struct ckpt_staged {
    uint64_t position; /* of the record in the ring of writes */
    MPI_Win win;
    int piece;
    MPI_Op op; /* NULL: a put */
    MPI_Datatype element;
};

/* The waiting records, in the order of the calls; delivery removes them. */
extern struct ckpt_staged *ckpt_staged;
extern uint32_t ckpt_staged_count;

/*
 * Reserves a record for `bytes` of a layout's stream after the first `skip`; the layout is
 * `start` bytes from the base of the target's memory. The caller fills in the bytes and
 * calls ckpt_stage_commit(), with application handles; op is NULL for a put. If the log is
 * full of records that other ranks need, it is emptied: then they, and this rank, cannot be
 * replayed before their next checkpoints. Returns NULL, or -ENOMEM, if out of memory:
 * nothing is staged. Between begin and end, which staging may leave and enter again.
 */
struct ckpt_log_record *ckpt_stage(MPI_Win win, int target, const struct ckpt_layout *layout,
                                   int64_t start, uint64_t skip, uint64_t bytes);
int ckpt_stage_commit(MPI_Win win, struct ckpt_log_record *record, MPI_Op op,
                      MPI_Datatype element);

/* The same for `count` ranges of a piece, which the caller also fills in. */
struct ckpt_log_record *ckpt_stage_ranges(MPI_Win win, int piece, uint32_t count,
                                          uint64_t bytes);

/* The most bytes in one record: long operations have several records. */
#define CKPT_STAGE_PIECE (UINT64_C(1) << 20)

/* Removes records from the log that no rank can need any more (log trimming: Sultan 2004,
 * theorem 1): writes that are in the newest checkpoint of their target. */
void ckpt_writes_trim(void);

#pragma GCC visibility pop

#endif
