/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * repair.c - repair a log that a killed rank has left.
 */
#include "independent/repair.h"

#include "base/invariant.h"
#include "independent/delivery.h"
#include "independent/interval.h"
#include "independent/log/quiet.h"
#include "independent/page.h"
#include "independent/staging.h"

/* The rank may have been killed while it reset an empty ring. */
static void repair_ring(struct ckpt_log_ring *ring)
{
    if (ring->head > ring->tail) {
        ring->tail = ring->head;
    }
    CKPT_INVARIANT(ring->tail - ring->head <= ring->capacity);
}

/* Applies a published record. No other rank touches the target's memory meanwhile: this rank
 * still holds it, or the record was applied already. */
static void bring_into_place(struct ckpt_log_record *record)
{
    MPI_Win win = ckpt_independent_find(record->window);
    struct ckpt_record_pair *pair;

    if (win == NULL) {
        return;
    }
    pair = ckpt_record_pair(win->independent->record, win->comm->rank, record->target);
    if (record->interval > pair->applied) {
        ckpt_record_bring(win, record);
    }
}

static int is_undelivered(const struct ckpt_log_record *record)
{
    return record->interval == 0 || record->interval > ckpt_log->published;
}

static int has_undelivered(MPI_Win win, int piece)
{
    struct ckpt_log_ring *ring = &ckpt_log->writes;
    uint64_t position = ring->head;
    struct ckpt_log_record *record;

    while ((record = ckpt_log_find(ckpt_log, ring, &position)) != NULL) {
        if (record->window == win->independent->id && record->target == piece &&
            is_undelivered(record)) {
            return 1;
        }
        position = ckpt_log_behind(record, position);
    }
    return 0;
}

/* Undelivered direct puts stay in the memory of targets until the replay delivers them. If
 * there are none, the rank was killed just after a delivery, so the quiet is restored. */
static void repair_quiet(MPI_Win win)
{
    struct ckpt_record *record = win->independent->record;
    const int self = win->comm->rank;

    for (int i = 0; i < win->comm->size; i++) {
        if (ckpt_quiet_is_broken(record, self, i) && !has_undelivered(win, i)) {
            ckpt_quiet_restore(record, self, i);
        }
    }
}

static void repair_writes(void)
{
    struct ckpt_log_ring *ring = &ckpt_log->writes;
    uint64_t position = ring->head;
    struct ckpt_log_record *record;

    while ((record = ckpt_log_find(ckpt_log, ring, &position)) != NULL) {
        const uint64_t behind = ckpt_log_behind(record, position);

        if (is_undelivered(record)) {
            ckpt_log_drop(record);
        } else {
            bring_into_place(record);
        }
        position = behind;
    }
    ckpt_log_retract(ckpt_log, ring, ring->head);
}

static void let_go(MPI_Win win)
{
    for (int i = 0; i < win->comm->size; i++) {
        if (ckpt_record_is_held(win, i)) {
            ckpt_record_give(win, i);
        }
    }
}

void ckpt_repair(void)
{
    repair_ring(&ckpt_log->writes);
    repair_ring(&ckpt_log->events);
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        repair_quiet(win);
    }
    repair_writes();
    __atomic_store_n(&ckpt_independent_self->interval, ckpt_log->published, __ATOMIC_RELEASE);
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        let_go(win);
    }
}
