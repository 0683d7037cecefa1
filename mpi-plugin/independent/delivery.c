/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.c - end an interval by delivering its staged records.
 *
 * An accumulate is logged as the resulting memory contents, not as its operands. So it can be
 * applied again, and a replay need not know in which order other ranks have added to the same
 * place.
 */
#include "independent/delivery.h"

#include "base/invariant.h"
#include "independent/direct.h"
#include "independent/fault_injection.h"
#include "independent/interval.h"
#include "independent/log/combine.h"
#include "independent/pause.h"
#include "independent/replay.h"
#include "independent/staging.h"

#include <string.h>

void ckpt_record_take(MPI_Win win, int piece)
{
    struct ckpt_record_target *one = ckpt_record_target(win->independent->record, piece);
    const uint32_t self = (uint32_t)win->comm->rank + 1;
    uint32_t nobody = 0;

    while (!__atomic_compare_exchange_n(&one->owner, &nobody, self, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        nobody = 0;
        ckpt_independent_pause();
    }
}

int ckpt_record_is_held(MPI_Win win, int piece)
{
    return ckpt_record_target(win->independent->record, piece)->owner ==
           (uint32_t)win->comm->rank + 1;
}

void ckpt_record_give(MPI_Win win, int piece)
{
    CKPT_INVARIANT(ckpt_record_is_held(win, piece));
    __atomic_store_n(&ckpt_record_target(win->independent->record, piece)->owner, 0,
                     __ATOMIC_RELEASE);
}

void ckpt_record_apply(struct ckpt_log_record *record, char *memory)
{
    const struct ckpt_log_range *range = ckpt_log_ranges(record);
    const char *bytes = ckpt_log_bytes(record);

    for (uint32_t i = 0; i < record->range_count; i++) {
        memcpy(memory + range[i].start, bytes, range[i].bytes);
        bytes += range[i].bytes;
    }
}

/* Captured pages are in memory since they were stored to, direct puts since they were
 * logged. */
void ckpt_record_bring(MPI_Win win, struct ckpt_log_record *record)
{
    if (record->kind == CKPT_LOGGED_WRITE) {
        ckpt_record_apply(record, ckpt_piece_memory(win, record->target));
    }
    if (ckpt_window_is_shared(win)) {
        ckpt_record_apply(record, win->independent->released);
    }
    ckpt_rank_fault_kill(CKPT_FAULT_AFTER_APPLY);
    ckpt_record_pair(win->independent->record, win->comm->rank, record->target)->applied =
        record->interval;
}

int ckpt_deliver_record(MPI_Win win, struct ckpt_log_record *record, MPI_Op op,
                        MPI_Datatype element)
{
    int code = MPI_SUCCESS;

    CKPT_INVARIANT(record->interval == 0 && ckpt_record_is_held(win, record->target));
    if (op != NULL) {
        code = ckpt_combine(record, ckpt_piece_memory(win, record->target), op, element);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    record->order = ++ckpt_record_target(win->independent->record, record->target)->order;
    record->interval = ckpt_interval_now();
    ckpt_rank_fault_kill(CKPT_FAULT_AT_ORDER);
    ckpt_interval_publish();
    ckpt_rank_fault_kill(CKPT_FAULT_AT_PUBLISH);
    ckpt_record_bring(win, record);
    ckpt_interval_close();
    return code;
}

/* Delivers a record. A refused delivery leaves no trace for a replay, so the interval is
 * marked as lost. */
static int deliver_now(const struct ckpt_staged *one, struct ckpt_log_record *record)
{
    int code;

    ckpt_rank_fault_kill(CKPT_FAULT_BEFORE_DELIVERY);
    ckpt_record_take(one->win, one->piece);
    code = ckpt_deliver_record(one->win, record, one->op, one->element);
    ckpt_record_give(one->win, one->piece);
    if (code != MPI_SUCCESS) {
        ckpt_log_drop(record);
        ckpt_interval_lost();
    }
    ckpt_rank_fault_kill(CKPT_FAULT_AFTER_DELIVERY);
    return code;
}

/* Counts a delivery. In a replay the records that the rank had not delivered before its death
 * come after the end of the log. */
static void note_delivery(MPI_Win win, int piece)
{
    CKPT_INVARIANT(win->independent->staged[piece] > 0);
    if (--win->independent->staged[piece] == 0 && !ckpt_replaying) {
        ckpt_direct_delivered(win, piece);
    }
}

/* Delivers a record, and removes it from the staged ones even on failure. A replayed rank may
 * have been killed between any two records: from that point on it runs live. */
static int deliver_one(struct ckpt_staged one)
{
    struct ckpt_log_record *record =
        ckpt_log_at(ckpt_log, &ckpt_log->writes, one.position);
    int code = MPI_SUCCESS;

    CKPT_INVARIANT(one.position >= ckpt_log->writes.head && one.position < ckpt_log->writes.tail);
    ckpt_replay_look();
    if (ckpt_replaying) {
        ckpt_replay_delivery(one.win, record, one.position);
    } else {
        code = deliver_now(&one, record);
    }
    note_delivery(one.win, one.piece);
    return code;
}

/* Delivers staged records of one window (NULL: all) for one piece (below 0: all). */
static int deliver_if(MPI_Win win, int piece)
{
    int code = MPI_SUCCESS, one;
    uint32_t left = 0;

    for (uint32_t i = 0; i < ckpt_staged_count; i++) {
        if ((win != NULL && ckpt_staged[i].win != win) ||
            (piece >= 0 && ckpt_staged[i].piece != piece)) {
            ckpt_staged[left++] = ckpt_staged[i];
            continue;
        }
        one = deliver_one(ckpt_staged[i]);
        code = code == MPI_SUCCESS ? one : code;
    }
    ckpt_staged_count = left;
    return code;
}

/* A call without a record is not a step, which could end a replay: the rank may have been
 * killed long after. */
int ckpt_deliver(MPI_Win win, int target)
{
    const int piece = ckpt_piece_of(win, target);

    return win->independent->staged[piece] == 0 ? MPI_SUCCESS : deliver_if(win, piece);
}

int ckpt_deliver_all(MPI_Win win)
{
    return deliver_if(win, -1);
}

void ckpt_deliver_everything(void)
{
    (void)deliver_if(NULL, -1);
}
