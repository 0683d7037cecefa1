/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reservation.h - address ranges that only the lower half uses.
 *
 * The lower half reserves large inaccessible mappings, and puts everything that
 * it maps inside them; unmapping makes memory inaccessible again. So the upper
 * half never gets an address here, and the set of lower memory does not depend
 * on the time of the query.
 *
 * Context of all but the last two: normal (lower half), within a change.
 */
#ifndef CKPT_RESERVATION_H
#define CKPT_RESERVATION_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* Takes `size` bytes, rounded up to pages, aligned to `alignment` (a power of
 * two, at least a page). The memory is still inaccessible: map over it with
 * MAP_FIXED. Returns the address, or 0 if there is no room. */
uint64_t ckpt_reservation_take(size_t size, size_t alignment);

/* Unmaps memory inside the reservation by reserving it again; it can then be
 * taken again. Returns 0, or -errno with nothing changed. */
int ckpt_reservation_give(struct ckpt_range range);

/* Called after a failed attempt to map over memory that was just taken. The
 * attempt may leave a hole, which another thread may have filled. Takes the
 * range back if that is safe; else removes it from the reservation. */
void ckpt_reservation_undo(struct ckpt_range range);

/* Adds a mapping outside the reservation to it, for ever. If the table is full
 * the mapping is not known as lower memory, which only makes the image
 * larger. */
void ckpt_reservation_add(struct ckpt_range range);

/* Marks memory inside the reservation as taken (MAP_FIXED by the caller). */
void ckpt_reservation_claim(struct ckpt_range range);

/* Called in the child of a fork: the thread that held the lock may not exist
 * here. */
void ckpt_reservation_after_fork(void);

/* Returns the part of `range` that is in one reservation, the lowest if there
 * are several; an empty range (start == end) if there is none. Context: any. */
struct ckpt_range ckpt_reservation_part(struct ckpt_range range);

/* Calls visit() for each piece of the reservation. Context: any. */
void ckpt_reservation_visit(void (*visit)(void *argument,
                                          struct ckpt_range range),
                            void *argument);

#endif
