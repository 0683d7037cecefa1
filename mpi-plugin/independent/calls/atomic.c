/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * atomic.c - operations that return the old value: MPI_Get_accumulate and its like.
 *
 * They run at once, as the caller needs their results, each with its own interval. The result is
 * logged together with the change, before the program gets it. So a replayed rank gets the same
 * result, and changes nothing twice. Programs build locks with these operations, so an acquire
 * follows each.
 *
 * A program that waits for a value repeats the operation. An answer equal to the one before is
 * only counted, in that one's event.
 */
#include "independent/calls/access.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "independent/calls/arguments.h"
#include "independent/capture.h"
#include "independent/delivery.h"
#include "independent/fault_injection.h"
#include "independent/interval.h"
#include "independent/overhead.h"
#include "independent/replay.h"
#include "independent/staging.h"

#include <stdlib.h>
#include <string.h>

/* One operation, or the part of it that one interval contains. */
struct fetch {
    MPI_Win win;
    int target;
    int64_t start;
    const struct ckpt_layout *place; /* layout in the target's memory */
    uint64_t skip, bytes;            /* this operation's part */
    /* element type, the application's handle: a restart during a wait changes lower handles */
    MPI_Datatype element;
    MPI_Op op;           /* MPI_NO_OP: no change */
    const char *compare; /* not NULL: change only if the memory has these bytes */
    const char *operand; /* operand's memory and layout, unless MPI_NO_OP */
    const struct ckpt_layout *operand_layout;
};

/* ---- Repeated answers --------------------------------------------------------- */

/* The newest answer: its operation (start: of the part), and the end of the log of events after
 * it. */
static struct {
    uint64_t window;
    int64_t start;
    int target;
    uint64_t position;
    uint64_t behind;
} latest;

static struct ckpt_log_record *latest_event(void)
{
    return latest.behind == ckpt_log->events.tail &&
                   latest.position >= ckpt_log->events.head && latest.behind != 0
               ? ckpt_log_at(ckpt_log, &ckpt_log->events, latest.position)
               : NULL;
}

static int64_t start_of(const struct fetch *f)
{
    return f->start + (int64_t)f->skip;
}

static int is_same(const struct ckpt_log_record *event, const struct fetch *f,
                   const char *found)
{
    return latest.window == f->win->independent->id && latest.target == f->target &&
           latest.start == start_of(f) && event->size >= sizeof(*event) + f->bytes &&
           memcmp(event + 1, found, f->bytes) == 0;
}

/* ---- Live operation ------------------------------------------------------------ */

static char *memory_of(const struct fetch *f)
{
    return ckpt_independent_memory(f->win, f->target) + f->start;
}

/* Logs the operands. Returns NULL if the log has no room. */
static struct ckpt_log_record *stage(const struct fetch *f)
{
    const uint64_t began = ckpt_overhead_begin();
    struct ckpt_log_record *record;

    CKPT_INVARIANT(f->operand_layout != NULL && f->skip + f->bytes <= f->operand_layout->bytes);
    record = ckpt_stage(f->win, f->target, f->place, f->start, f->skip, f->bytes);
    if (record != NULL) {
        ckpt_layout_read(f->operand_layout, f->skip, f->bytes, f->operand,
                         ckpt_log_bytes(record));
        ckpt_log_commit(ckpt_log, &ckpt_log->writes, record);
        ckpt_overhead_payload(f->bytes);
    }
    ckpt_overhead_end(began);
    return record;
}

/* Removes a record, which is the last one in the log. */
static void give_up(const struct ckpt_log_record *record)
{
    struct ckpt_log_ring *ring = &ckpt_log->writes;

    CKPT_INVARIANT(ring->tail - ring->head >= record->size &&
                   ckpt_log_at(ckpt_log, ring, ring->tail - record->size) == record);
    ckpt_log_cut(ckpt_log, ring, ring->tail - record->size);
}

/* Logs the answer, which counts when the interval is published. */
static void log_answer(const struct fetch *f, const char *found)
{
    const uint64_t began = ckpt_overhead_begin();
    struct ckpt_log_record *event = ckpt_event_reserve(CKPT_LOGGED_FETCH, f->bytes);

    ckpt_overhead_payload(f->bytes);
    if (event != NULL) {
        memcpy(ckpt_event_bytes(event), found, f->bytes);
        latest.window = f->win->independent->id;
        latest.start = start_of(f);
        latest.target = f->target;
        latest.position = ckpt_log->events.tail;
        ckpt_event_commit(event);
    }
    ckpt_overhead_end(began);
}

/* Answers, and makes the change if there is one. This rank holds the target's memory. Returns 1 if
 * the answer repeats the one before. */
static int exchange(const struct fetch *f, struct ckpt_log_record *record, char *found,
                    int *code)
{
    struct ckpt_log_record *before = latest_event();
    int changes = record != NULL;

    CKPT_INVARIANT(ckpt_record_is_held(f->win, ckpt_piece_of(f->win, f->target)));
    ckpt_layout_read(f->place, f->skip, f->bytes, memory_of(f), found);
    if (changes && f->compare != NULL && memcmp(found, f->compare, f->bytes) != 0) {
        give_up(record);
        changes = 0;
    }
    if (!changes && before != NULL && is_same(before, f, found)) {
        before->order++;
        return 1;
    }
    log_answer(f, found);
    ckpt_rank_fault_kill(CKPT_FAULT_AT_ANSWER);
    if (changes) {
        *code = ckpt_deliver_record(f->win, record, f->op, f->element);
        if (*code != MPI_SUCCESS) { /* the answer is logged already */
            give_up(record);
            ckpt_interval_lost();
        }
    } else {
        ckpt_interval_publish();
        ckpt_interval_close();
    }
    return 0;
}

static int fetch_live(const struct fetch *f, char *found)
{
    struct ckpt_log_record *record = NULL;
    int code = MPI_SUCCESS, again;

    if (f->op != MPI_NO_OP) {
        record = stage(f);
        if (record == NULL) {
            return MPI_ERR_NO_MEM;
        }
    }
    ckpt_record_take(f->win, ckpt_piece_of(f->win, f->target));
    again = exchange(f, record, found, &code);
    ckpt_record_give(f->win, ckpt_piece_of(f->win, f->target));
    if (!again) {
        ckpt_interval_acquire();
        latest.behind = ckpt_log->events.tail;
    }
    ckpt_rank_fault_kill(CKPT_FAULT_AFTER_ANSWER);
    return code;
}

/* ---- Replay --------------------------------------------------------------------- */

static int fetch_again(const struct fetch *f, char *found)
{
    struct ckpt_log_record *event;

    if (ckpt_replay_repeats(found, f->bytes)) {
        return MPI_SUCCESS;
    }
    event = ckpt_replay_event(CKPT_LOGGED_FETCH);
    CKPT_INVARIANT(event->size >= sizeof(*event) + f->bytes);
    memcpy(found, ckpt_event_bytes(event), f->bytes);
    ckpt_replay_repeat(event);
    if (f->op != MPI_NO_OP &&
        (f->compare == NULL || memcmp(found, f->compare, f->bytes) == 0)) {
        ckpt_replay_own_write(f->win, f->target);
    }
    ckpt_interval_close();
    ckpt_interval_acquire();
    return MPI_SUCCESS;
}

static int fetch(const struct fetch *f, char *found)
{
    const int code = ckpt_deliver(f->win, f->target);

    if (code != MPI_SUCCESS) {
        return code;
    }
    ckpt_capture(); /* before this rank can see others' releases */
    ckpt_replay_look();
    return ckpt_replaying ? fetch_again(f, found) : fetch_live(f, found);
}

/* ---- The operations --------------------------------------------------------------- */

/* Runs the operation in parts, each with one interval; only elements have to be atomic. */
static int fetch_all(struct fetch *f, const struct ckpt_layout *result_layout, char *result)
{
    const uint64_t bytes = f->place->bytes;
    const uint64_t most = bytes < CKPT_STAGE_PIECE ? bytes : CKPT_STAGE_PIECE;
    char few[64], *found = most <= sizeof(few) ? few : malloc(most);
    int code = found == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;

    for (f->skip = 0; f->skip < bytes && code == MPI_SUCCESS; f->skip += most) {
        f->bytes = bytes - f->skip < most ? bytes - f->skip : most;
        code = fetch(f, found);
        if (code == MPI_SUCCESS) {
            ckpt_layout_write(result_layout, f->skip, f->bytes, found, result);
        }
    }
    if (found != few) {
        free(found);
    }
    return code;
}

int ckpt_access_get_accumulate(const void *origin, int origin_count,
                               MPI_Datatype origin_type, void *result, int result_count,
                               MPI_Datatype result_type, int target, MPI_Aint place,
                               int target_count, MPI_Datatype target_type, MPI_Op op,
                               MPI_Win win)
{
    struct ckpt_transfer into, from; /* the result; the operands */
    struct fetch f = {.win = win, .target = target, .op = op, .operand = origin};
    int code;

    if (!ckpt_is_operation(op) || (op != MPI_NO_OP && !ckpt_is_type(origin_type)) ||
        !ckpt_is_type(result_type)) {
        return CKPT_ACCESS_WRONG;
    }
    code = ckpt_transfer_open(&into, result_count, result_type, target, place, target_count,
                              target_type, win);
    if (code == MPI_SUCCESS && op != MPI_NO_OP) {
        code = ckpt_transfer_open(&from, origin_count, origin_type, target, place,
                                  target_count, target_type, win);
        f.operand_layout = &from.origin;
    }
    if (code == MPI_SUCCESS) {
        f.start = into.start;
        f.place = &into.target;
        f.element = into.element;
        code = fetch_all(&f, &into.origin, result);
    }
    if (f.operand_layout != NULL) {
        ckpt_transfer_close(&from);
    }
    ckpt_transfer_close(&into);
    return code;
}

int ckpt_access_compare_and_swap(const void *origin, const void *compare, void *result,
                                 MPI_Datatype type, int target, MPI_Aint place, MPI_Win win)
{
    struct ckpt_transfer transfer;
    struct fetch f = {
        .win = win, .target = target, .op = MPI_REPLACE, .compare = compare, .operand = origin};
    int code;

    if (!ckpt_is_type(type)) {
        return CKPT_ACCESS_WRONG;
    }
    code = ckpt_transfer_open(&transfer, 1, type, target, place, 1, type, win);
    if (code == MPI_SUCCESS) {
        f.start = transfer.start;
        f.place = &transfer.target;
        f.element = transfer.element;
        f.operand_layout = &transfer.origin;
        code = fetch_all(&f, &transfer.origin, result);
    }
    ckpt_transfer_close(&transfer);
    return code;
}
