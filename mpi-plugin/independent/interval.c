/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * interval.c - close intervals, and log what this rank then learns from others.
 */
#include "independent/interval.h"

#include "base/invariant.h"
#include "independent/overhead.h"
#include "independent/private_memory.h"
#include "independent/replay.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"

#include <stdlib.h>

/* Default size of each ring, in bytes. It is address space: only the pages that are ever
 * used take memory. */
#define CAPACITY (UINT64_C(64) << 20)
#define PAGE     UINT64_C(4096)

struct ckpt_volatile_log *ckpt_log;
uint64_t *ckpt_time;
int ckpt_time_rank;
int ckpt_time_count;

/* A component of the vector time that has changed. */
struct component {
    uint64_t rank;
    uint64_t interval;
};

static char *logs; /* of all ranks, concatenated */
static size_t log_size;

static uint64_t capacity(void)
{
    const char *text = ckpt_runtime_getenv("CKPT_LOG_LIMIT");
    const uint64_t bytes = text != NULL ? strtoull(text, NULL, 10) : 0;

    return bytes == 0 ? CAPACITY : (bytes + PAGE - 1) & ~(PAGE - 1);
}

struct ckpt_volatile_log *ckpt_log_of(int rank)
{
    CKPT_INVARIANT(rank >= 0 && rank < ckpt_time_count);
    return (struct ckpt_volatile_log *)(logs + (size_t)rank * log_size);
}

/* Makes the logs of all ranks with the same size. */
static int share_logs(int rank_count, uint64_t *bytes)
{
    uintptr_t upper = ckpt_enter();
    void *memory = NULL; /* what an error leaves */
    int code = CKPT_FUNCTION(Allreduce)(MPI_IN_PLACE, bytes, 1, CKPT_LOWER(MPI_UINT64_T),
                                        CKPT_LOWER(MPI_MAX), CKPT_LOWER(MPI_COMM_WORLD));

    log_size = ckpt_log_size(*bytes);
    if (code == MPI_SUCCESS) {
        code = ckpt_independent_share_memory(CKPT_LOWER(MPI_COMM_WORLD), "ckpt-logs",
                                             (size_t)rank_count * log_size, &memory);
    }
    ckpt_leave(upper);
    logs = memory;
    return code;
}

int ckpt_interval_open(int rank, int rank_count)
{
    uint64_t bytes = capacity();
    int code = share_logs(rank_count, &bytes);

    if (code != MPI_SUCCESS) {
        return code;
    }
    ckpt_time = calloc((size_t)rank_count, sizeof(*ckpt_time));
    if (ckpt_time == NULL) {
        return MPI_ERR_NO_MEM;
    }
    ckpt_time_rank = rank;
    ckpt_time_count = rank_count;
    ckpt_log = ckpt_log_of(rank);
    ckpt_log_format(ckpt_log, bytes);
    return code;
}

void ckpt_interval_publish(void)
{
    if (!ckpt_replaying) {
        __atomic_store_n(&ckpt_log->published, ckpt_interval_now(), __ATOMIC_RELEASE);
    }
}

void ckpt_interval_close(void)
{
    struct ckpt_independent_rank *self = ckpt_independent_self;
    CKPT_INVARIANT(ckpt_time[ckpt_time_rank] < UINT64_MAX);
    const uint64_t closed = ++ckpt_time[ckpt_time_rank];

    if (ckpt_replaying) {
        ckpt_replay_closed();
        return;
    }
    __atomic_store_n(&self->interval, closed, __ATOMIC_RELEASE);
    self->log_bytes = ckpt_log->writes.tail - ckpt_log->writes.head +
                      ckpt_log->events.tail - ckpt_log->events.head;
    self->logged_bytes = ckpt_log->ever;
    self->trimmed_bytes = self->logged_bytes - self->log_bytes;
}

/* Takes over the changed components of the other ranks' times, and copies them to
 * `component` unless it is NULL. Returns their number. */
static uint32_t take_components(struct component *component)
{
    uint32_t count = 0;

    for (int i = 0; i < ckpt_time_count; i++) {
        const uint64_t now = __atomic_load_n(&ckpt_independent->rank[i].interval,
                                             __ATOMIC_ACQUIRE);

        if (i == ckpt_time_rank || now == ckpt_time[i]) {
            continue;
        }
        ckpt_time[i] = now;
        if (component != NULL) {
            component[count++] = (struct component){(uint64_t)i, now};
        }
    }
    return count;
}

static void acquire_live(void)
{
    const uint64_t began = ckpt_overhead_begin();
    struct ckpt_log_record *event = ckpt_event_reserve(
        CKPT_LOGGED_ACQUIRE, (size_t)ckpt_time_count * sizeof(struct component));
    uint32_t count = take_components(event == NULL ? NULL : ckpt_event_bytes(event));

    CKPT_INVARIANT(count < (uint32_t)ckpt_time_count); /* the others */
    if (event != NULL) {
        event->range_count = count;
        event->size = (uint32_t)(sizeof(*event) + count * sizeof(struct component));
        ckpt_event_commit(event);
    }
    ckpt_overhead_end(began);
}

static void acquire_again(void)
{
    struct ckpt_log_record *event = ckpt_replay_event(CKPT_LOGGED_ACQUIRE);
    const struct component *component = ckpt_event_bytes(event);

    for (uint32_t i = 0; i < event->range_count; i++) {
        if (CKPT_INVARIANT(component[i].rank < (uint64_t)ckpt_time_count)) {
            ckpt_time[component[i].rank] = component[i].interval;
        }
    }
    ckpt_private_bring_up();
}

/* The rank may have been killed between an atomic operation, or a test, and the acquire
 * that follows. Then this acquire is the first live step. */
void ckpt_interval_acquire(void)
{
    ckpt_replay_look();
    if (ckpt_replaying) {
        acquire_again();
    } else {
        acquire_live();
    }
    ckpt_interval_publish();
    ckpt_interval_close();
}

struct ckpt_log_record *ckpt_event_reserve(enum ckpt_log_kind kind, size_t bytes)
{
    struct ckpt_log_record *event = ckpt_log_reserve(ckpt_log, &ckpt_log->events, bytes);

    if (event == NULL) {
        ckpt_interval_lost();
        return NULL;
    }
    event->kind = kind;
    event->interval = ckpt_interval_now();
    return event;
}

void ckpt_event_commit(const struct ckpt_log_record *event)
{
    ckpt_log_commit(ckpt_log, &ckpt_log->events, event);
}

void ckpt_event_answer(int answer)
{
    static uint64_t position, behind; /* of the newest answer, and the log's end after it */
    struct ckpt_log_record *event;

    if (behind != 0 && behind == ckpt_log->events.tail &&
        position >= ckpt_log->events.head) {
        event = ckpt_log_at(ckpt_log, &ckpt_log->events, position);
        if (event->target == answer) {
            event->order++;
            return;
        }
    }
    event = ckpt_event_reserve(CKPT_LOGGED_ANSWER, 0);
    if (event != NULL) {
        event->target = answer;
        position = ckpt_log->events.tail;
        ckpt_event_commit(event);
        behind = ckpt_log->events.tail;
    }
}

void ckpt_interval_lost(void)
{
    ckpt_independent_self->lost = 1;
}
