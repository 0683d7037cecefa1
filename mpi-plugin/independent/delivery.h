/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.h - deliver records from an origin's log into the memory of targets
 * (docs/windows.md, section 4).
 */
#ifndef CKPT_INDEPENDENT_DELIVERY_H
#define CKPT_INDEPENDENT_DELIVERY_H

#include "independent/window.h"

#pragma GCC visibility push(hidden)

/* Delivers the records staged for a target, or for all targets, in the order of the
 * calls; an interval ends with each record. Between begin and end, which it may leave
 * and enter again. Returns an MPI error code. */
int ckpt_deliver(MPI_Win win, int target);
int ckpt_deliver_all(MPI_Win win);
void ckpt_deliver_everything(void); /* of all windows; continues after an error */

/*
 * Turns a record of operands into a record of this interval, with the resulting memory
 * contents, and applies it. op, element: the application's handles; NULL for a put and
 * for pages. The caller holds the piece (ckpt_record_take). Between begin and end.
 */
int ckpt_deliver_record(MPI_Win win, struct ckpt_log_record *record, MPI_Op op,
                        MPI_Datatype element);

/* Take and give the right to change a piece, or to check a rank's lock. Hold it only
 * while nothing waits. Between begin and end, which taking may leave and enter again. */
void ckpt_record_take(MPI_Win win, int piece);
void ckpt_record_give(MPI_Win win, int piece);

/* Returns whether this rank holds the piece. Any context. */
int ckpt_record_is_held(MPI_Win win, int piece);

/* Copies the bytes of a record into the memory of its piece. Any context. */
void ckpt_record_apply(struct ckpt_log_record *record, char *memory);

/* Applies a delivered record to memory, and to a shared window's released image. It can
 * be repeated without effect. */
void ckpt_record_bring(MPI_Win win, struct ckpt_log_record *record);

#pragma GCC visibility pop

#endif
