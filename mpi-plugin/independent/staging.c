/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staging.c - records that wait for delivery.
 */
#include "independent/staging.h"

#include "base/invariant.h"
#include "independent/delivery.h"
#include "independent/interval.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ckpt_staged *ckpt_staged;
uint32_t ckpt_staged_count;
static uint32_t capacity;

static int make_room(void)
{
    const uint32_t more = capacity == 0 ? 64 : 2 * capacity;
    struct ckpt_staged *grown;

    if (ckpt_staged_count < capacity) {
        return 0;
    }
    grown = realloc(ckpt_staged, more * sizeof(*grown));
    if (grown == NULL) {
        return -ENOMEM;
    }
    ckpt_staged = grown;
    capacity = more;
    return 0;
}

/* ---- Log trimming ---------------------------------------------------------- */

static int is_needed(const struct ckpt_log_record *record)
{
    MPI_Win win;

    if (record->interval == 0) {
        return 1; /* not delivered */
    }
    win = ckpt_independent_find(record->window);
    return win != NULL &&
           record->interval > ckpt_piece_kept(win, record->target);
}

void ckpt_writes_trim(void)
{
    struct ckpt_log_ring *ring = &ckpt_log->writes;
    uint64_t position = ring->head;
    struct ckpt_log_record *record = ckpt_log_find(ckpt_log, ring, &position);

    while (record != NULL && !is_needed(record)) {
        position = ckpt_log_behind(record, position);
        record = ckpt_log_find(ckpt_log, ring, &position);
    }
    if (position != ring->head) {
        ckpt_log_trim(ring, position);
    }
}

/* ---- Full log ---------------------------------------------------------------- */

/* Empties the log: this rank's writes can no longer be replayed. All records have been
 * delivered. */
static void give_up_log(void)
{
    struct ckpt_log_ring *ring = &ckpt_log->writes;
    uint64_t position = ring->head;
    struct ckpt_log_record *record;

    CKPT_INVARIANT(ckpt_staged_count == 0);
    ckpt_interval_lost();
    while ((record = ckpt_log_find(ckpt_log, ring, &position)) != NULL) {
        if (is_needed(record)) {
            ckpt_piece_lost(ckpt_independent_find(record->window), record->target,
                            record->interval);
        }
        position = ckpt_log_behind(record, position);
    }
    ckpt_log_trim(ring, ring->tail);
}

/* Reserves a record. Delivering early is allowed: an origin may do it at any time in its
 * epoch. */
static struct ckpt_log_record *reserve(size_t bytes)
{
    struct ckpt_log_ring *ring = &ckpt_log->writes;
    struct ckpt_log_record *record = ckpt_log_reserve(ckpt_log, ring, bytes);

    if (record == NULL) {
        ckpt_writes_trim();
        record = ckpt_log_reserve(ckpt_log, ring, bytes);
    }
    if (record == NULL) {
        ckpt_deliver_everything();
        give_up_log();
        record = ckpt_log_reserve(ckpt_log, ring, bytes);
    }
    return record;
}

/* ---- Records ---------------------------------------------------------------- */

struct ckpt_log_record *ckpt_stage_ranges(MPI_Win win, int piece, uint32_t count,
                                          uint64_t bytes)
{
    struct ckpt_log_record *record = reserve(count * sizeof(struct ckpt_log_range) + bytes);

    if (record != NULL) {
        record->kind = CKPT_LOGGED_WRITE;
        record->window = win->independent->id;
        record->target = piece;
        record->range_count = count;
    }
    return record;
}

/* Returns where a rank's memory begins in its piece. */
static int64_t base_in_piece(MPI_Win win, int rank)
{
    return ckpt_independent_memory(win, rank) -
           ckpt_piece_memory(win, ckpt_piece_of(win, rank));
}

struct ckpt_log_record *ckpt_stage(MPI_Win win, int target, const struct ckpt_layout *layout,
                                   int64_t start, uint64_t skip, uint64_t bytes)
{
    const uint32_t count = ckpt_layout_cut(layout, skip, bytes, NULL);
    struct ckpt_log_record *record =
        ckpt_stage_ranges(win, ckpt_piece_of(win, target), count, bytes);
    struct ckpt_log_range *range;

    if (record == NULL) {
        return NULL;
    }
    range = ckpt_log_ranges(record);
    (void)ckpt_layout_cut(layout, skip, bytes, range);
    for (uint32_t i = 0; i < count; i++) {
        range[i].start += (uint64_t)(start + base_in_piece(win, target));
        CKPT_INVARIANT((int64_t)range[i].start >= 0);
    }
    return record;
}

int ckpt_stage_commit(MPI_Win win, struct ckpt_log_record *record, MPI_Op op,
                      MPI_Datatype element)
{
    if (make_room() != 0) {
        return -ENOMEM;
    }
    CKPT_INVARIANT(ckpt_staged_count < capacity && record->kind == CKPT_LOGGED_WRITE);
    ckpt_staged[ckpt_staged_count++] = (struct ckpt_staged){
        .position = ckpt_log->writes.tail,
        .win = win,
        .piece = record->target,
        .op = op,
        .element = element,
    };
    win->independent->staged[record->target]++;
    ckpt_log_commit(ckpt_log, &ckpt_log->writes, record);
    return 0;
}
