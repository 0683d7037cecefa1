/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.h - from an origin's log into the memory of targets (docs/windows.md,
 * section 4).
 */
#ifndef CKPT_INDEPENDENT_DELIVERY_H
#define CKPT_INDEPENDENT_DELIVERY_H

#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* Brings what has been staged for a target, or for all, into place, in the order of the
 * calls; an interval ends with each record. Between begin and end, which may be left and
 * entered meanwhile. Returns an MPI error code. */
int ckpt_deliver(MPI_Win win, int target);
int ckpt_deliver_all(MPI_Win win);
void ckpt_deliver_everything(void); /* of all windows, as far as that goes well */

/*
 * Marks a record of operands as one of this interval, which becomes what they make of the
 * target's memory, and brings it into place. op, element: the application's; NULL for a
 * put and for pages. The piece is this rank's to change (ckpt_record_take). Between begin
 * and end.
 */
int ckpt_deliver_record(MPI_Win win, struct ckpt_log_record *record, MPI_Op op,
                        MPI_Datatype element);

/* Who may change a piece, or whose turn it is to look at a rank's lock, for as long as
 * nothing waits. Between begin and end, which taking may leave and enter. */
void ckpt_record_take(MPI_Win win, int piece);
void ckpt_record_give(MPI_Win win, int piece);

/* Copies what a record has into the memory of its piece. Any context. */
void ckpt_record_apply(struct ckpt_log_record *record, char *memory);

/* Brings a delivered record into memory, and into a shared window's released image. What
 * is done twice is done once. */
void ckpt_record_bring(MPI_Win win, struct ckpt_log_record *record);

#pragma GCC visibility pop

#endif
