/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reservation.h - addresses that belong to the lower half alone.
 *
 * Large inaccessible mappings are reserved, and everything that the lower half
 * maps is put inside them; unmapping makes it inaccessible again. So the upper
 * half can never get an address here, and which memory is lower does not
 * depend on the moment at which one asks.
 *
 * Context of all but the last two: normal (lower half), within a
 * change.
 */
#ifndef CKPT_RESERVATION_H
#define CKPT_RESERVATION_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* Takes `size` bytes, rounded up to pages, aligned to `alignment` (a power of
 * two, at least a page). What is there is still inaccessible: map over it with
 * MAP_FIXED. Returns the address, or 0 if there is no room. */
uint64_t ckpt_reservation_take(size_t size, size_t alignment);

/* Unmaps memory inside the reservation by reserving it again, and lets it be
 * taken anew. Returns 0, or -errno and nothing changed. */
int ckpt_reservation_give(struct ckpt_range range);

/* After a failed attempt to map over memory just taken: such an attempt may
 * leave a hole, which another thread may have filled. Takes the range back if
 * that is certain to be safe; else it is no longer part of the reservation. */
void ckpt_reservation_undo(struct ckpt_range range);

/* Makes a mapping outside the reservation part of it for ever. Should the
 * table be full, it is not known as lower memory, which costs only bytes. */
void ckpt_reservation_add(struct ckpt_range range);

/* Marks memory inside the reservation as taken (MAP_FIXED by the caller). */
void ckpt_reservation_claim(struct ckpt_range range);

/* In the child of a fork: the thread that held the lock may not exist here. */
void ckpt_reservation_after_fork(void);

/* The part of `range` that lies in one reservation, the lowest if there are
 * several; empty (start == end) if there is none. Context: any. */
struct ckpt_range ckpt_reservation_part(struct ckpt_range range);

/* Calls visit() for each piece of the reservation. Context: any. */
void ckpt_reservation_visit(void (*visit)(void *argument,
                                          struct ckpt_range range),
                            void *argument);

#endif
