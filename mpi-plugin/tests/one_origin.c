/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * one_origin.c - the environment of staging.c and log_limit.c.
 */
#include "tests/one_origin.h"

#include "independent/delivery.h"
#include "independent/interval.h"
#include "independent/page.h"
#include "independent/replay.h"
#include "independent/staging.h"
#include "independent/window.h"

#include <stdlib.h>
#include <string.h>

enum {
    WINDOW_ID = 7
};

struct origin_world origin_world;

struct ckpt_volatile_log *ckpt_log;
struct ckpt_independent_rank *ckpt_independent_self = &origin_world.page;
int ckpt_replaying;

static char memory[ORIGIN_RANKS * ORIGIN_BYTES];
static char released[ORIGIN_RANKS * ORIGIN_BYTES];
static uint32_t staged[ORIGIN_RANKS];
static struct ompi_communicator_t comm = {.rank = 0, .size = ORIGIN_RANKS};
static struct ckpt_independent_window part = {.id = WINDOW_ID, .staged = staged};
static struct ompi_win_t window = {.comm = &comm, .independent = &part};

void origin_open(uint64_t capacity, int shared)
{
    memset(memory, 0, sizeof(memory));
    memset(staged, 0, sizeof(staged));
    origin_world = (struct origin_world){0};
    ckpt_replaying = 0;
    ckpt_staged_count = 0;
    part.released = shared ? released : NULL;
    window.shared = calloc(1, sizeof(*window.shared) +
                                  ORIGIN_RANKS * sizeof(window.shared->segment[0]));
    ckpt_log = calloc(1, ckpt_log_size(capacity));
    if (window.shared == NULL || ckpt_log == NULL) {
        abort();
    }
    window.shared->start = memory;
    window.shared->count = ORIGIN_RANKS;
    for (int i = 0; i < ORIGIN_RANKS; i++) {
        window.shared->segment[i] =
            (struct ckpt_segment){.size = ORIGIN_BYTES, .offset = (uint64_t)i * ORIGIN_BYTES};
    }
    ckpt_log_format(ckpt_log, capacity);
}

void origin_close(void)
{
    free(window.shared);
    free(ckpt_log);
    ckpt_log = NULL;
}

struct ckpt_volatile_log *origin_log(void)
{
    return ckpt_log;
}

char *origin_memory(int rank)
{
    return ckpt_independent_memory(&window, rank);
}

int origin_put(int target, uint64_t start, uint64_t apart, const char *from, uint64_t bytes)
{
    struct ckpt_layout layout;
    struct ckpt_log_record *record;

    ckpt_layout_begin(&layout);
    layout.range[0] = (struct ckpt_log_range){0, bytes / 2};
    layout.range[1] = (struct ckpt_log_range){apart, bytes - bytes / 2};
    layout.count = 2;
    layout.bytes = bytes;
    record = ckpt_stage(&window, target, &layout, (int64_t)start, 0, bytes);
    if (record == NULL) {
        return -1;
    }
    memcpy(ckpt_log_bytes(record), from, bytes);
    return ckpt_stage_commit(&window, record, NULL, NULL);
}

unsigned origin_staged(void)
{
    return ckpt_staged_count;
}

unsigned origin_staged_for(int rank)
{
    return staged[ckpt_piece_of(&window, rank)];
}

/* Delivers as delivery.c does. */
void origin_deliver(void)
{
    for (uint32_t i = 0; i < ckpt_staged_count; i++) {
        struct ckpt_log_record *record =
            ckpt_log_at(ckpt_log, &ckpt_log->writes, ckpt_staged[i].position);
        const struct ckpt_log_range *range = ckpt_log_ranges(record);
        const char *bytes = ckpt_log_bytes(record);

        record->order = ++origin_world.order;
        record->interval = ++origin_world.interval;
        for (uint32_t k = 0; k < record->range_count; k++) {
            memcpy(ckpt_piece_memory(&window, record->target) + range[k].start, bytes,
                   range[k].bytes);
            bytes += range[k].bytes;
        }
        staged[ckpt_staged[i].piece]--;
    }
    ckpt_staged_count = 0;
}

void origin_synchronise(void)
{
    origin_world.interval++;
}

void origin_set_replaying(int yes)
{
    ckpt_replaying = yes;
}

void origin_trim(void)
{
    ckpt_writes_trim();
}

/* ---- The rest of the plugin -------------------------------------------------------- */

void ckpt_deliver_everything(void)
{
    origin_deliver();
}

void ckpt_interval_lost(void)
{
    origin_world.lost++;
}

MPI_Win ckpt_independent_find(uint64_t id)
{
    return id == WINDOW_ID && !origin_world.is_freed ? &window : NULL;
}

/* In a shared window, all ranks use the one piece. */
static uint64_t kept_of(int piece)
{
    const uint64_t *kept = origin_world.kept;

    if (part.released != NULL) {
        return kept[0] < kept[1] ? kept[0] : kept[1];
    }
    return kept[piece];
}

uint64_t ckpt_piece_kept(MPI_Win win, int piece)
{
    const uint64_t kept = kept_of(piece);

    (void)win;
    return kept == 0 && origin_world.bound_error < 0
               ? 0
               : kept + (uint64_t)origin_world.bound_error;
}

void ckpt_piece_lost(MPI_Win win, int piece, uint64_t interval)
{
    (void)win;
    if (origin_world.lost_since[piece] == 0) {
        origin_world.lost_since[piece] = interval;
    }
}

void ckpt_piece_ask(MPI_Win win, int piece, uint64_t interval)
{
    (void)win;
    origin_world.asked_since[piece] = interval;
}
