/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - replay this rank from its newest independent checkpoint up to its death, then
 * let it run live.
 */
#include "independent/replay.h"

#include "base/invariant.h"
#include "base/text.h"
#include "independent/delivery.h"
#include "independent/interval.h"
#include "independent/private_memory.h"
#include "independent/repair.h"
#include "sys/syscall.h"

#include <string.h>

static struct {
    uint64_t event;                         /* position of the next event */
    uint64_t write;                         /* position after the last own write that was found */
    uint64_t pages;                         /* position of the next captured pages, or before it */
    uint64_t published;                     /* the rank was killed in the interval after this one */
    const struct ckpt_log_record *repeated; /* event to repeat `times` more */
    uint64_t times;
    int ends; /* all is replayed: the next step is live */
} replay;

__attribute__((noreturn)) static void diverged(enum ckpt_log_kind kind)
{
    static char line[300];
    const size_t length = ckpt_text_format(
        line, sizeof(line),
        "ckpt: rank %d cannot be replayed: in interval %l of %l it does something else "
        "than before (step of kind %d). Does it poll memory, or look at the time?\n",
        ckpt_time_rank, (long)ckpt_interval_now(), (long)replay.published, (int)kind);

    (void)ckpt_sys_write(2, line, length);
    ckpt_sys_exit_group(1);
}

/* ---- Events ------------------------------------------------------------------- */

/* Of the unpublished interval only events that do not end an interval count. */
static int counts(const struct ckpt_log_record *event)
{
    return event->interval <= replay.published ||
           (event->interval == replay.published + 1 &&
            (event->kind == CKPT_LOGGED_READ || event->kind == CKPT_LOGGED_ANSWER));
}

static struct ckpt_log_record *next_event(void)
{
    struct ckpt_log_record *event =
        ckpt_log_find(ckpt_log, &ckpt_log->events, &replay.event);

    return event != NULL && counts(event) ? event : NULL;
}

/* Marks the end of the log: from here on the program changes its memory in the interval
 * that was open when it was killed. */
static void note_progress(void)
{
    if (!replay.ends && replay.times == 0 && next_event() == NULL &&
        ckpt_time[ckpt_time_rank] == replay.published) {
        replay.ends = 1;
        ckpt_private_mark();
    }
}

struct ckpt_log_record *ckpt_replay_event(enum ckpt_log_kind kind)
{
    struct ckpt_log_record *event = next_event();

    /* repeated answers come first, but each is followed by its acquire */
    if (event == NULL || event->kind != (uint32_t)kind ||
        event->interval != ckpt_interval_now() ||
        (replay.times != 0 && kind != CKPT_LOGGED_ACQUIRE)) {
        diverged(kind);
    }
    CKPT_INVARIANT(event->size >= sizeof(*event));
    replay.event = ckpt_log_behind(event, replay.event);
    if (kind == CKPT_LOGGED_READ) {
        note_progress();
    }
    return event;
}

void ckpt_replay_repeat(const struct ckpt_log_record *event)
{
    replay.repeated = event;
    replay.times = event->order;
}

int ckpt_replay_repeats(char *found, size_t bytes)
{
    if (replay.times == 0) {
        return 0;
    }
    memcpy(found, replay.repeated + 1, bytes);
    replay.times--;
    note_progress();
    return 1;
}

int ckpt_replay_answer(void)
{
    const struct ckpt_log_record *event;

    if (replay.times > 0) {
        event = replay.repeated;
        replay.times--;
    } else {
        event = ckpt_replay_event(CKPT_LOGGED_ANSWER);
        ckpt_replay_repeat(event);
    }
    note_progress();
    return event->target;
}

void ckpt_replay_closed(void)
{
    note_progress();
}

/* ---- Memory -------------------------------------------------------------------- */

/* Finds the write of the open interval, at or after a position. */
static struct ckpt_log_record *find_write(uint64_t position)
{
    struct ckpt_log_record *record;

    while ((record = ckpt_log_find(ckpt_log, &ckpt_log->writes, &position)) != NULL) {
        if (record->interval == ckpt_interval_now()) {
            replay.write = ckpt_log_behind(record, position);
            return record;
        }
        position = ckpt_log_behind(record, position);
    }
    return NULL;
}

/* Own writes usually are in the log in the order of their intervals, but not if another
 * target's writes were delivered first. */
void ckpt_replay_own_write(MPI_Win win, int target)
{
    struct ckpt_log_record *record;

    if (ckpt_piece_of(win, target) != ckpt_own_piece(win)) {
        return;
    }
    record = find_write(replay.write);
    if (record == NULL) {
        record = find_write(ckpt_log->writes.head);
    }
    if (record == NULL) { /* own writes since the checkpoint are never trimmed */
        diverged(CKPT_LOGGED_WRITE);
    }
    ckpt_private_apply(win, record);
}

/* Pages are delivered as soon as they are logged, so the log has them in the order of
 * their intervals. */
struct ckpt_log_record *ckpt_replay_pages(MPI_Win win)
{
    struct ckpt_log_record *record;

    while ((record = ckpt_log_find(ckpt_log, &ckpt_log->writes, &replay.pages)) != NULL &&
           (record->kind != CKPT_LOGGED_PAGES || record->interval < ckpt_interval_now())) {
        replay.pages = ckpt_log_behind(record, replay.pages);
    }
    if (record == NULL || record->interval != ckpt_interval_now() ||
        record->window != win->independent->id) {
        return NULL;
    }
    replay.pages = ckpt_log_behind(record, replay.pages);
    return record;
}

void ckpt_replay_delivery(MPI_Win win, struct ckpt_log_record *record, uint64_t position)
{
    const int target = record->target;

    ckpt_log_drop(record);
    ckpt_log_retract(ckpt_log, &ckpt_log->writes, position);
    ckpt_replay_own_write(win, target);
    ckpt_interval_close();
}

/* ---- Beginning and end ------------------------------------------------------------ */

void ckpt_replay_remember(void)
{
    ckpt_private_remember();
    replay.event = ckpt_log->events.tail;
}

void ckpt_replay_begin(void)
{
    CKPT_INVARIANT(!ckpt_replaying);
    if (replay.event < ckpt_log->events.head) { /* an empty ring was reset */
        replay.event = ckpt_log->events.head;
    }
    replay.write = ckpt_log->writes.head;
    replay.pages = ckpt_log->writes.head;
    replay.published = ckpt_log->published;
    replay.times = 0;
    replay.ends = 0;
    ckpt_replaying = 1;
    ckpt_independent_self->replaying = 1;
    ckpt_repair();
    ckpt_private_begin();
    note_progress();
}

void ckpt_replay_end(void)
{
    if (replay.ends) {
        CKPT_INVARIANT(replay.times == 0 && ckpt_time[ckpt_time_rank] == replay.published);
        ckpt_private_end();
        /* unpublished events do not count */
        ckpt_log_cut(ckpt_log, &ckpt_log->events, replay.event);
        ckpt_replaying = 0;
        ckpt_independent_self->replaying = 0;
    }
}
