/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * capture.c - copy changed pages of shared windows into the log and the released image.
 */
#include "independent/capture.h"

#include "base/invariant.h"
#include "independent/delivery.h"
#include "independent/fault_injection.h"
#include "independent/interval.h"
#include "independent/private_memory.h"
#include "independent/replay.h"
#include "independent/staging.h"
#include "memory/write_watch.h"
#include "runtime/runtime.h"
#include "sys/descriptor.h"

#include <string.h>

#define PAGE UINT64_C(4096)

/* Pages that one record captures. */
enum {
    MOST_RUNS = 64
};

struct batch {
    struct ckpt_log_range run[MOST_RUNS];
    uint32_t count;
    uint64_t bytes;
};

/* ---- Finding pages ------------------------------------------------------------ */

static uint64_t page_count(MPI_Win win)
{
    CKPT_INVARIANT(win->shared->span % PAGE == 0);
    return win->shared->span / PAGE;
}

static struct ckpt_write_watch watch = {-1, -1};
static int is_unwatchable; /* in this launch */

/* With --incremental the agents track writes with the same kernel bits. They and our watch
 * would clear each other's bits. */
static int agent_watches(void)
{
    const char *incremental = ckpt_runtime_getenv("CKPT_INCREMENTAL");

    return incremental != NULL && strcmp(incremental, "0") != 0;
}

static int open_watch(void)
{
    if (watch.descriptor < 0 && !is_unwatchable) {
        is_unwatchable = agent_watches() || ckpt_write_watch_open(&watch) != 0;
        if (!is_unwatchable) {
            watch.descriptor = ckpt_descriptor_raise(watch.descriptor);
            watch.page_map = ckpt_descriptor_raise(watch.page_map);
        }
    }
    return watch.descriptor >= 0;
}

/* Finds the pages that this rank may have stored to since the last time: those that the
 * kernel has noted, or all if it has not tracked them. */
static void find_written(MPI_Win win)
{
    struct ckpt_independent_window *one = win->independent;
    const uint64_t size = win->shared->span;

    if (one->tracked &&
        ckpt_write_watch_look(&watch, win->shared->start, size, one->written) == 0) {
        return;
    }
    one->tracked =
        open_watch() && ckpt_write_watch_begin(&watch, win->shared->start, size) == 0;
    memset(one->written, 1, page_count(win));
}

static int differs(MPI_Win win, uint64_t page)
{
    CKPT_INVARIANT(page < page_count(win));
    return memcmp(win->shared->start + page * PAGE,
                  win->independent->released + page * PAGE, PAGE) != 0;
}

/* A batch can always take at least one page. */
static int is_full(const struct batch *batch)
{
    const uint64_t bytes = batch->bytes + PAGE;

    return batch->bytes != 0 &&
           (bytes > CKPT_STAGE_PIECE || bytes > ckpt_log->writes.capacity / 4);
}

static int touches(const struct batch *batch, uint64_t page)
{
    const struct ckpt_log_range *last = batch->run + batch->count;

    return batch->count > 0 && last[-1].start + last[-1].bytes == page * PAGE;
}

/* Returns 0 if the batch is full. */
static int add_page(struct batch *batch, uint64_t page)
{
    if (is_full(batch)) {
        return 0;
    }
    if (touches(batch, page)) {
        batch->run[batch->count - 1].bytes += PAGE;
    } else if (batch->count < MOST_RUNS) {
        batch->run[batch->count++] = (struct ckpt_log_range){page * PAGE, PAGE};
    } else {
        return 0;
    }
    CKPT_INVARIANT(batch->count > 0 && batch->count <= MOST_RUNS);
    batch->bytes += PAGE;
    return 1;
}

/* Fills a batch with pages to capture, from *page on, and advances *page. The pages then
 * count as not written. Returns 1 if there were any written pages. */
static int fill_batch(MPI_Win win, uint64_t *page, struct batch *batch)
{
    uint8_t *written = win->independent->written;
    int any = 0;

    batch->count = 0;
    batch->bytes = 0;
    for (; *page < page_count(win); ++*page) {
        const uint8_t *next = memchr(written + *page, 1, page_count(win) - *page);

        if (next == NULL) {
            *page = page_count(win);
            break;
        }
        *page = (uint64_t)(next - written);
        any = 1;
        if (differs(win, *page) && !add_page(batch, *page)) {
            break;
        }
        written[*page] = 0;
    }
    return any;
}

/* ---- Live capture --------------------------------------------------------------- */

static void copy_pages(MPI_Win win, const struct batch *batch, char *to)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        CKPT_INVARIANT(batch->run[i].start + batch->run[i].bytes <= win->shared->span);
        memcpy(to, win->shared->start + batch->run[i].start, batch->run[i].bytes);
        to += batch->run[i].bytes;
    }
}

/* Releases pages that the log has no room for. No replay can restore them, so all members
 * must take new checkpoints. */
static void release_unlogged(MPI_Win win, const struct batch *batch)
{
    CKPT_INVARIANT(ckpt_record_is_held(win, 0));
    for (uint32_t i = 0; i < batch->count; i++) {
        memcpy(win->independent->released + batch->run[i].start,
               win->shared->start + batch->run[i].start, batch->run[i].bytes);
    }
    ckpt_piece_lost(win, 0, UINT64_MAX);
}

/* Captures a batch. Even an empty one takes the piece: another rank may be copying pages
 * into the image that this rank has already found there. It closes its interval before it
 * gives the piece back. */
static void capture_batch(MPI_Win win, const struct batch *batch)
{
    struct ckpt_log_record *record = NULL;

    if (batch->count > 0) {
        record = ckpt_stage_ranges(win, 0, batch->count, batch->bytes);
    }
    if (record != NULL) {
        record->kind = CKPT_LOGGED_PAGES;
        memcpy(ckpt_log_ranges(record), batch->run, batch->count * sizeof(batch->run[0]));
        ckpt_log_commit(ckpt_log, &ckpt_log->writes, record);
        ckpt_rank_fault_kill(CKPT_FAULT_AT_CAPTURE);
    }
    ckpt_record_take(win, 0);
    if (record != NULL) {
        copy_pages(win, batch, ckpt_log_bytes(record));
        (void)ckpt_deliver_record(win, record, NULL, NULL);
    } else if (batch->count > 0) {
        release_unlogged(win, batch);
    }
    ckpt_record_give(win, 0);
}

static void capture_now(MPI_Win win)
{
    struct batch batch;
    uint64_t page = 0;

    find_written(win);
    while (fill_batch(win, &page, &batch)) {
        capture_batch(win, &batch);
    }
}

/* ---- Replay ---------------------------------------------------------------------- */

/* Applies the logged pages. They contain this rank's stores again, and other ranks' words
 * as they were then. */
static int capture_again(MPI_Win win)
{
    struct ckpt_log_record *record = ckpt_replay_pages(win);

    if (record == NULL) {
        return 0;
    }
    ckpt_private_apply(win, record);
    ckpt_interval_close();
    return 1;
}

/* The rank may have been killed between any two records, so checks before each whether the
 * replay ends. */
static void capture(MPI_Win win)
{
    do {
        ckpt_replay_look();
    } while (ckpt_replaying && capture_again(win));
    if (!ckpt_replaying) {
        capture_now(win);
    }
}

void ckpt_capture(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        if (ckpt_window_is_shared(win)) {
            (void)ckpt_deliver_all(win);
            capture(win);
        }
    }
}

void ckpt_capture_forget(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        if (ckpt_window_is_shared(win)) {
            win->independent->tracked = 0;
        }
    }
}

void ckpt_capture_restarted(void)
{
    watch.descriptor = watch.page_map = -1;
    is_unwatchable = 0;
    ckpt_capture_forget();
}

int ckpt_capture_owns_descriptor(int fd)
{
    return fd >= 0 && (fd == watch.descriptor || fd == watch.page_map);
}
