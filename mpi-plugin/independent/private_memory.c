/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private_memory.c - replace shared pages by private ones for a replay, and back.
 */
#include "base/invariant.h"
#include "config.h"
#include "independent/private_memory.h"

#include "independent/interval.h"
#include "independent/log/applied.h"
#include "sys/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)

__attribute__((noreturn)) static void refuse(const char *line)
{
    (void)ckpt_sys_write(2, line, strlen(line));
    ckpt_sys_exit_group(1);
}

static char *own_memory(MPI_Win win)
{
    return ckpt_piece_memory(win, ckpt_own_piece(win));
}

static char *new_pages(size_t size)
{
    const long memory = (long)ckpt_sys_mmap(NULL, size == 0 ? PAGE : size,
                                            PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return ckpt_sys_failed(memory) ? NULL : (char *)memory;
}

static void free_pages(char *memory, size_t size)
{
    if (memory != NULL) {
        (void)ckpt_sys_munmap(memory, size == 0 ? PAGE : size);
    }
}

/* ---- At a checkpoint ------------------------------------------------------------ */

static void release(MPI_Win win)
{
    struct ckpt_private *private = win->independent->private;

    if (private != NULL) {
        free_pages(private->kept, private->size);
        free_pages(private->live, private->size);
        free(private->seen);
        free(private);
        win->independent->private = NULL;
    }
}

static int prepare(MPI_Win win)
{
    const size_t count = (size_t)win->comm->size;
    struct ckpt_private *private = calloc(1, sizeof(*private));

    if (private == NULL) {
        return -ENOMEM;
    }
    CKPT_INVARIANT(win->independent->private == NULL);
    win->independent->private = private;
    private->size = ckpt_own_piece_size(win);
    private->kept = new_pages(private->size);
    private->seen = calloc(2 * count, sizeof(*private->seen));
    private->cursor = private->seen + count;
    return private->kept == NULL || private->seen == NULL ? -ENOMEM : 0;
}

int ckpt_private_prepare(void)
{
    int error = 0;

    for (MPI_Win win = ckpt_independent_first(); win != NULL && error == 0;
         win = ckpt_independent_next(win)) {
        error = prepare(win);
    }
    if (error != 0) {
        ckpt_private_dismiss();
    }
    return error;
}

void ckpt_private_remember(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        struct ckpt_private *private = win->independent->private;

        memcpy(private->kept,
               ckpt_window_is_shared(win) ? win->independent->released : own_memory(win),
               private->size);
        for (int i = 0; i < win->comm->size; i++) {
            private->seen[i] =
                ckpt_record_pair(win->independent->record, i, ckpt_own_piece(win))->applied;
        }
    }
}

uint64_t ckpt_private_seen(MPI_Win win, int origin)
{
    return win->independent->private->seen[origin];
}

void ckpt_private_dismiss(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        release(win);
    }
}

/* ---- Deliveries of other ranks ------------------------------------------------------- */

/* Collects the records of one origin for this rank that have become known: adds them to
 * `known`, and advances the cursor. Records for one piece are delivered in the order of the
 * log. */
struct known {
    struct delivery {
        MPI_Win win;
        struct ckpt_log_record *record;
    } * one;
    size_t count, capacity;
};

static void add_known(struct known *known, MPI_Win win, struct ckpt_log_record *record)
{
    if (known->count == known->capacity) {
        known->capacity = known->capacity == 0 ? 256 : 2 * known->capacity;
        struct delivery *grown = realloc(known->one, known->capacity * sizeof(*grown));

        if (grown == NULL) {
            abort();
        }
        known->one = grown;
    }
    CKPT_INVARIANT(known->count < known->capacity);
    known->one[known->count++] = (struct delivery){win, record};
}

static void collect(MPI_Win win, int origin, struct known *known)
{
    struct ckpt_private *private = win->independent->private;
    const int world = win->comm->members[origin];
    struct ckpt_volatile_log *log = ckpt_log_of(world);
    struct ckpt_log_record *record, header;

    while ((record = ckpt_log_find_alive(log, &log->writes, &private->cursor[origin],
                                         &header)) != NULL) {
        const int is_ours = header.window == win->independent->id &&
                            header.target == ckpt_own_piece(win);

        if (is_ours && header.interval > private->seen[origin]) {
            if (header.interval > ckpt_time[world]) {
                break;
            }
            add_known(known, win, record);
            private->seen[origin] = header.interval;
        } else if (is_ours && header.interval == 0) {
            break; /* not delivered yet */
        }
        CKPT_INVARIANT(header.size >= sizeof(header));
        private->cursor[origin] = ckpt_log_behind(&header, private->cursor[origin]);
    }
}

static int by_order(const void *one, const void *other)
{
    const uint64_t a = ((const struct delivery *)one)->record->order;
    const uint64_t b = ((const struct delivery *)other)->record->order;

    return a < b ? -1 : a > b;
}

void ckpt_private_apply(MPI_Win win, struct ckpt_log_record *record)
{
    ckpt_applied_add(record, own_memory(win));
}

/* A rank with a full log sets `lost` before it overwrites records that other ranks' replays
 * need. */
static void require_logs(void)
{
    if (__atomic_load_n(&ckpt_independent_self->lost, __ATOMIC_ACQUIRE)) {
        refuse("ckpt: a rank cannot be replayed: a log that it needs was full meanwhile\n");
    }
}

void ckpt_private_bring_up(void)
{
    struct known known = {NULL, 0, 0};

    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        for (int i = 0; i < win->comm->size; i++) {
            if (i != win->comm->rank) {
                collect(win, i, &known);
            }
        }
    }
    qsort(known.one, known.count, sizeof(*known.one), by_order);
    for (size_t i = 0; i < known.count; i++) {
        ckpt_private_apply(known.one[i].win, known.one[i].record);
    }
    free(known.one);
    require_logs();
}

/* ---- Beginning and end ------------------------------------------------------------------ */

/* Maps the pages at `from` a second time. */
static char *map_again(char *from, size_t size, char *to)
{
    return (char *)ckpt_sys_mremap(from, 0, size, MREMAP_MAYMOVE | (to ? MREMAP_FIXED : 0),
                                   to);
}

/* A replay is impossible without the memory. */
static void require(int there)
{
    if (!there) {
        refuse("ckpt: no memory for the replay of a rank\n");
    }
}

static void begin(MPI_Win win)
{
    struct ckpt_private *private = win->independent->private;

    CKPT_INVARIANT(private != NULL && private->live == NULL);
    for (int i = 0; i < win->comm->size; i++) {
        private->cursor[i] = ckpt_log_of(win->comm->members[i])->writes.head;
    }
    if (private->size == 0) {
        return;
    }
    private->live = map_again(own_memory(win), private->size, NULL);
    require(!ckpt_sys_failed((long)private->live));
    require(!ckpt_sys_failed((long)ckpt_sys_mmap(
        own_memory(win), private->size, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)));
    memcpy(own_memory(win), private->kept, private->size);
}

void ckpt_private_begin(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        begin(win);
    }
}

void ckpt_private_mark(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        struct ckpt_private *private = win->independent->private;

        require(private->size == 0 ||
                ckpt_write_set_add(&private->own, own_memory(win), private->size) == 0);
    }
    require(ckpt_write_set_begin() == 0);
}

static void end(MPI_Win win)
{
    struct ckpt_private *private = win->independent->private;
    char *own = own_memory(win);

    for (size_t i = 0; i < private->size; i++) {
        if (private->own.changed[i]) {
            private->live[i] = own[i];
        }
    }
    if (private->size != 0) {
        require(map_again(private->live, private->size, own) == own);
    }
}

void ckpt_private_end(void)
{
    require_logs();
    if (ckpt_write_set_end() != 0) {
        refuse("ckpt: a rank cannot be replayed: what it stores to windows cannot be seen, as "
               "it has a SIGSEGV or SIGTRAP of its own\n");
    }
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        end(win);
    }
    ckpt_write_set_free();
    ckpt_private_dismiss();
    ckpt_applied_forget();
}
