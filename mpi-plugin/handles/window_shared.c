/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window_shared.c - map one allocation of the lower half twice.
 */
#include "base/invariant.h"
#include "config.h"
#include "handles/window_shared.h"

#include "runtime/crossing.h"
#include "sys/syscall.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)

static uint64_t whole_pages(uint64_t size)
{
    return (size + PAGE - 1) & ~(PAGE - 1);
}

struct ckpt_shared *ckpt_shared_new(int count, int aligned, int one)
{
    struct ckpt_shared *shared =
        calloc(1, sizeof(*shared) + (size_t)count * sizeof(*shared->segment));

    if (shared != NULL) {
        shared->count = count;
        shared->aligned = aligned;
        shared->apart = aligned && !one;
    }
    return shared;
}

int ckpt_shared_possible(MPI_Comm comm, int *possible)
{
    MPI_Comm node;
    int code, all, here;

    *possible = 0;
    code = CKPT_FUNCTION(Comm_split_type)(comm, MPI_COMM_TYPE_SHARED, 0,
                                          CKPT_LOWER(MPI_INFO_NULL), &node);
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_size)(node, &here);
    }
    if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Comm_size)(comm, &all);
        *possible = here == all;
    }
    return code == MPI_SUCCESS ? CKPT_FUNCTION(Comm_free)(&node) : code;
}

/* ---- The lower window ----------------------------------------------------- */

/* Returns the rank whose memory in the lower half contains a segment. Segments
 * that follow each other without a gap are in one allocation. */
static int owner_of(const struct ckpt_shared *shared, int rank)
{
    return shared->apart ? rank : 0;
}

static void lay_out(struct ckpt_shared *shared)
{
    uint64_t end = 0;

    for (int i = 0; i < shared->count; i++) {
        CKPT_INVARIANT(shared->segment[i].size <= UINT64_MAX - PAGE - end);
        shared->segment[i].offset = end;
        end += shared->segment[i].size;
        if (shared->aligned) {
            end = whole_pages(end);
        }
    }
    shared->span = end == 0 ? PAGE : whole_pages(end);
    CKPT_INVARIANT(shared->span % PAGE == 0 && shared->span >= end);
}

/* Returns the size to ask of the lower half: one page more, so that the
 * allocation contains a page boundary before the data. */
static MPI_Aint room_for(const struct ckpt_shared *shared, int rank)
{
    CKPT_INVARIANT(rank >= 0 && rank < shared->count);
    if (!shared->apart || shared->count == 1) {
        return rank == 0 ? (MPI_Aint)(shared->span + PAGE) : 0;
    }
    return shared->segment[rank].size == 0
               ? 0
               : (MPI_Aint)(whole_pages(shared->segment[rank].size) + PAGE);
}

/* Returns the address of a rank's memory in the lower half; NULL if it has none
 * there. */
static char *lower_base(MPI_Win win, int rank)
{
    char *base = NULL;
    MPI_Aint size;
    int code, unit, flag;

    if (win->shared->count == 1) {
        code = CKPT_FUNCTION(Win_get_attr)(CKPT_LOWER(win), MPI_WIN_BASE, &base,
                                           &flag);
    } else {
        code = CKPT_FUNCTION(Win_shared_query)(CKPT_LOWER(win), rank, &size,
                                               &unit, &base);
    }
    return code == MPI_SUCCESS ? base : NULL;
}

/* Returns the first page boundary in the lower memory. */
static char *first_page(char *base)
{
    return (char *)whole_pages((uint64_t)base);
}

static void find_origins(MPI_Win win)
{
    struct ckpt_shared *shared = win->shared;

    for (int i = 0; i < shared->count; i++) {
        struct ckpt_segment *segment = &shared->segment[i];
        char *base = lower_base(win, owner_of(shared, i));

        segment->origin = first_page(base) - base;
        if (!shared->apart) {
            segment->origin += (int64_t)segment->offset;
        }
    }
}

static int gather(MPI_Win win, MPI_Comm comm, int *rank)
{
    struct ckpt_segment *all = win->shared->segment;
    int code = CKPT_FUNCTION(Comm_rank)(comm, rank);

    if (code != MPI_SUCCESS) {
        return code;
    }
    CKPT_INVARIANT(*rank >= 0 && *rank < win->shared->count);
    all[*rank].size = (uint64_t)win->size;
    all[*rank].unit = (uint64_t)win->unit;
    return CKPT_FUNCTION(Allgather)(MPI_IN_PLACE, 0, CKPT_LOWER(MPI_UINT64_T),
                                    all, sizeof(*all) / sizeof(uint64_t),
                                    CKPT_LOWER(MPI_UINT64_T), comm);
}

int ckpt_shared_make(MPI_Win win, MPI_Comm comm, MPI_Info info, MPI_Win *lower)
{
    struct ckpt_shared *shared = win->shared;
    void *base;
    int rank, code = gather(win, comm, &rank);

    if (code != MPI_SUCCESS) {
        return code;
    }
    lay_out(shared);
    code = CKPT_FUNCTION(Info_set)(info, "alloc_shared_noncontig",
                                   shared->apart ? "true" : "false");
    if (code == MPI_SUCCESS && shared->count == 1) {
        code = CKPT_FUNCTION(Win_allocate)(room_for(shared, rank), 1, info,
                                           comm, &base, lower);
    } else if (code == MPI_SUCCESS) {
        code = CKPT_FUNCTION(Win_allocate_shared)(room_for(shared, rank), 1,
                                                  info, comm, &base, lower);
    }
    if (code == MPI_SUCCESS) {
        win->handle.lower = *lower;
        find_origins(win);
        shared->mapped = 1;
    }
    return code;
}

/* ---- The second mapping --------------------------------------------------- */

/* Maps the pages at `from` a second time, at `to`. */
static int alias(char *from, uint64_t size, char *to)
{
    CKPT_INVARIANT((uintptr_t)from % PAGE == 0 && (uintptr_t)to % PAGE == 0 && size % PAGE == 0);
    return ckpt_sys_failed(ckpt_sys_mremap(from, 0, size,
                                           MREMAP_MAYMOVE | MREMAP_FIXED, to))
               ? MPI_ERR_NO_MEM
               : MPI_SUCCESS;
}

/* Memory of this rank alone is not shared below, so it cannot be mapped twice.
 * Pages of our own replace it. */
static int map_alone(MPI_Win win)
{
    return alias(win->shared->start, win->shared->span,
                 first_page(lower_base(win, 0)));
}

void ckpt_shared_unalias(MPI_Win win)
{
    struct ckpt_shared *shared = win->shared;

    if (shared->count == 1) {
        (void)ckpt_sys_mmap(first_page(lower_base(win, 0)), shared->span,
                            PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
}

static int map_shared(MPI_Win win)
{
    struct ckpt_shared *shared = win->shared;
    int code = MPI_SUCCESS;

    if (!shared->apart) {
        return alias(first_page(lower_base(win, 0)), shared->span,
                     shared->start);
    }
    for (int i = 0; i < shared->count && code == MPI_SUCCESS; i++) {
        const struct ckpt_segment *segment = &shared->segment[i];

        if (segment->size != 0) {
            CKPT_INVARIANT(segment->offset + whole_pages(segment->size) <= shared->span);
            code = alias(first_page(lower_base(win, i)),
                         whole_pages(segment->size),
                         shared->start + segment->offset);
        }
    }
    return code;
}

static int find_room(struct ckpt_shared *shared)
{
    const int alone = shared->count == 1;
    long address = ckpt_sys_mmap(
        NULL, shared->span, alone ? PROT_READ | PROT_WRITE : PROT_NONE,
        (alone ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE, -1,
        0);

    if (ckpt_sys_failed(address)) {
        return MPI_ERR_NO_MEM;
    }
    shared->start = (char *)address;
    return MPI_SUCCESS;
}

/* Copies the content that the restart program brought back into this rank's
 * private pages. */
static void fill_own_segment(MPI_Win win)
{
    struct ckpt_shared *shared = win->shared;
    const int rank = win->comm->rank;
    const struct ckpt_segment *own = &shared->segment[rank];
    char *base = lower_base(win, owner_of(shared, rank));

    if (own->size != 0 && base != NULL) {
        CKPT_INVARIANT(own->offset + own->size <= shared->span);
        memcpy(base + own->origin, shared->start + own->offset, own->size);
    }
}

int ckpt_shared_map(MPI_Win win)
{
    struct ckpt_shared *shared = win->shared;
    int code = MPI_SUCCESS;

    if (shared->start == NULL) {
        code = find_room(shared);
    } else if (shared->count > 1) {
        fill_own_segment(win);
    }
    if (code == MPI_SUCCESS) {
        code = shared->count == 1 ? map_alone(win) : map_shared(win);
    }
    return code;
}

void *ckpt_shared_base(MPI_Win win, int rank)
{
    const struct ckpt_shared *shared = win->shared;
    const struct ckpt_segment *segment = &shared->segment[rank];

    if (segment->size == 0 && shared->aligned && shared->count > 1) {
        return NULL; /* as Open MPI: programs rely on it */
    }
    return shared->start + segment->offset;
}

void ckpt_shared_free(struct ckpt_shared *shared)
{
    if (shared != NULL && shared->start != NULL) {
        (void)ckpt_sys_munmap(shared->start, shared->span);
    }
    free(shared);
}

/* ---- At the cut ----------------------------------------------------------- */

/* Describes a region whose address range is kept without content: the others'
 * segments, whose pages must not seem to belong to this process. */
static int keep_room(struct ckpt_region *region, uint64_t start, uint64_t end)
{
    if (start >= end) {
        return 0;
    }
    (void)ckpt_sys_madvise((void *)start, end - start, MADV_DONTNEED);
    *region = (struct ckpt_region){
        .start = start, .end = end, .kind = CKPT_REGION_ANONYMOUS};
    return 1;
}

int ckpt_shared_regions(MPI_Win win, struct ckpt_region regions[3])
{
    const struct ckpt_shared *shared = win->shared;
    const struct ckpt_segment *own = &shared->segment[win->comm->rank];
    const uint64_t start = (uint64_t)shared->start;
    const uint64_t end = start + shared->span;
    uint64_t first = (start + own->offset) & ~(PAGE - 1);
    uint64_t last = whole_pages(start + own->offset + own->size);
    int count;

    if (own->size == 0) {
        first = last = end;
    }
    CKPT_INVARIANT(start % PAGE == 0 && start <= first && first <= last && last <= end);
    count = keep_room(&regions[0], start, first);
    if (first < last) {
        regions[count++] =
            (struct ckpt_region){.start = first,
                                 .end = last,
                                 .protection = PROT_READ | PROT_WRITE,
                                 .kind = CKPT_REGION_SHARED};
    }
    return count + keep_room(&regions[count], last, end);
}
