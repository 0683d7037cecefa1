/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reservation.c - address ranges that only the lower half uses.
 *
 * A chunk is one reserved mapping. It begins with a bitmap of its pages, in
 * which a set bit means a taken page. Chunks are never freed. A mapping whose
 * address the caller chose makes its own chunk.
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/host/reservation.h"

#include "lower/host/change.h"
#include "sys/syscall.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE               UINT64_C(4096)
#define CHUNK_SIZE         (UINT64_C(1) << 30)
#define CHUNK_SIZE_LIMITED (UINT64_C(64) << 20) /* the rest is for the program */
#define CHUNK_SIZE_MIN     (UINT64_C(16) << 20)
#define CHUNKS             256
#define LOST_MAX           256
#define WORD_BITS          64

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

_Static_assert(CHUNK_SIZE_MIN % PAGE == 0 && CHUNK_SIZE % CHUNK_SIZE_MIN == 0 &&
                   CHUNK_SIZE_LIMITED % CHUNK_SIZE_MIN == 0,
               "half a chunk is whole pages");

struct chunk {
    uint64_t start;
    uint64_t pages;
    uint64_t *taken; /* bitmap, at `start`; NULL: the chunk cannot be used */
};

/* Both tables only grow, and an entry is complete before it is counted. So they
 * can be read at any time. */
static struct chunk chunks[CHUNKS];
static uint32_t chunk_count;
static struct ckpt_range lost[LOST_MAX]; /* no longer in the reservation */
static uint32_t lost_count;
static struct ckpt_spinlock lock;

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) & ~(unit - 1);
}

/* Returns the first page in [from, to) whose bit is `value`, or `to`. */
static uint64_t find(const struct chunk *chunk, uint64_t from, uint64_t to,
                     int value)
{
    uint64_t word;

    while (from < to) {
        word = chunk->taken[from / WORD_BITS];
        word = (value ? word : ~word) >> (from % WORD_BITS);
        if (word != 0) {
            from += (uint64_t)__builtin_ctzll(word);
            return from < to ? from : to;
        }
        from += WORD_BITS - from % WORD_BITS;
    }
    return to;
}

static void mark(struct chunk *chunk, uint64_t from, uint64_t to, int value)
{
    uint64_t bit;

    CKPT_INVARIANT(from <= to && to <= chunk->pages);
    for (; from < to; from++) {
        bit = UINT64_C(1) << (from % WORD_BITS);
        if (value) {
            chunk->taken[from / WORD_BITS] |= bit;
        } else {
            chunk->taken[from / WORD_BITS] &= ~bit;
        }
    }
}

static uint64_t take_from(struct chunk *chunk, uint64_t pages,
                          uint64_t alignment)
{
    uint64_t address, first, obstacle;

    if (chunk->taken == NULL) {
        return 0;
    }
    for (first = 0; first < chunk->pages;
         first = find(chunk, obstacle, chunk->pages, 0)) {
        address = round_up(chunk->start + first * PAGE, alignment);
        first = (address - chunk->start) / PAGE;
        if (first + pages > chunk->pages) {
            break;
        }
        obstacle = find(chunk, first, first + pages, 1);
        if (obstacle == first + pages) {
            mark(chunk, first, first + pages, 1);
            CKPT_INVARIANT(address % alignment == 0);
            return address;
        }
    }
    return 0;
}

static void publish_chunk(void)
{
    CKPT_INVARIANT(chunk_count < CHUNKS);
    __atomic_store_n(&chunk_count, chunk_count + 1, __ATOMIC_RELEASE);
}

/* Returns the chunk size: smaller if RLIMIT_AS limits the address space. */
static uint64_t chunk_size(void)
{
    struct rlimit limit;

    if (ckpt_syscall4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY) {
        return CHUNK_SIZE;
    }
    return CHUNK_SIZE_LIMITED;
}

/* Reserves a chunk with room for `needed` bytes. Returns 0 or -errno. */
static int open_chunk(uint64_t needed)
{
    struct chunk *chunk = &chunks[chunk_count];
    uint64_t size, bitmap;
    long base;

    if (chunk_count == CHUNKS) {
        return -ENOMEM;
    }
    /* Add space for the bitmap; one of its pages describes 128 MiB. */
    needed = round_up(needed + needed / 16384 + 2 * PAGE, PAGE);
    size = chunk_size();
    size = needed > size ? needed : size;
    for (;;) {
        base = ckpt_sys_mmap(NULL, size, PROT_NONE, RESERVED, -1, 0);
        if (!ckpt_sys_failed(base)) {
            break;
        }
        /* Less may be left: try half the size. */
        if (size / 2 < needed || size / 2 < CHUNK_SIZE_MIN) {
            return (int)base;
        }
        size /= 2;
    }

    bitmap = round_up(size / PAGE / 8 + 8, PAGE);
    if (ckpt_sys_mprotect((void *)base, bitmap, PROT_READ | PROT_WRITE) != 0) {
        ckpt_sys_munmap((void *)base, size);
        return -ENOMEM;
    }
    chunk->start = (uint64_t)base;
    chunk->pages = size / PAGE;
    chunk->taken = (uint64_t *)base;
    CKPT_INVARIANT(bitmap < size && bitmap * 8 >= chunk->pages);
    mark(chunk, 0, bitmap / PAGE, 1);
    publish_chunk();
    return 0;
}

void ckpt_reservation_add(struct ckpt_range range)
{
    ckpt_spinlock_take(&lock);
    if (chunk_count < CHUNKS) {
        chunks[chunk_count] = (struct chunk){
            range.start, (range.end - range.start) / PAGE, NULL};
        publish_chunk();
    }
    ckpt_spinlock_give(&lock);
}

uint64_t ckpt_reservation_take(size_t size, size_t alignment)
{
    uint64_t pages = round_up(size, PAGE) / PAGE;
    uint64_t address = 0;

    ckpt_spinlock_take(&lock);
    /* Keep room to record a loss for each thread that may be mapping now. */
    if (lost_count > LOST_MAX / 2) {
        ckpt_spinlock_give(&lock);
        return 0;
    }
    for (uint32_t i = 0; i < chunk_count && address == 0; i++) {
        address = take_from(&chunks[i], pages, alignment);
    }
    if (address == 0 && open_chunk(pages * PAGE + alignment) == 0) {
        address = take_from(&chunks[chunk_count - 1], pages, alignment);
    }
    ckpt_spinlock_give(&lock);
    return address;
}

static void mark_range(struct ckpt_range range, int value)
{
    struct chunk *chunk;

    ckpt_spinlock_take(&lock);
    for (uint32_t i = 0; i < chunk_count; i++) {
        chunk = &chunks[i];
        if (chunk->taken != NULL && range.start >= chunk->start &&
            range.end <= chunk->start + chunk->pages * PAGE) {
            mark(chunk, (range.start - chunk->start) / PAGE,
                 (range.end - chunk->start) / PAGE, value);
        }
    }
    ckpt_spinlock_give(&lock);
}

int ckpt_reservation_give(struct ckpt_range range)
{
    long result;

    CKPT_INVARIANT(range.start % PAGE == 0 && range.end % PAGE == 0 && range.start < range.end);
    result = ckpt_sys_mmap((void *)range.start, range.end - range.start,
                           PROT_NONE, RESERVED | MAP_FIXED, -1, 0);
    if (ckpt_sys_failed(result)) {
        return (int)result;
    }
    mark_range(range, 0);
    return 0;
}

void ckpt_reservation_undo(struct ckpt_range range)
{
    long result;

    CKPT_INVARIANT(range.start < range.end); /* visit_chunk() goes past a lost range */
    result = ckpt_sys_mmap((void *)range.start, range.end - range.start,
                           PROT_NONE, RESERVED | MAP_FIXED_NOREPLACE, -1, 0);
    if (result == (long)range.start) {
        mark_range(range, 0);
        return;
    }
    /* The old reservation may still be there, or a mapping of the upper half:
     * give the range up. */
    ckpt_spinlock_take(&lock);
    if (CKPT_INVARIANT(lost_count < LOST_MAX)) {
        lost[lost_count] = range;
        __atomic_store_n(&lost_count, lost_count + 1, __ATOMIC_RELEASE);
    }
    ckpt_spinlock_give(&lock);
}

void ckpt_reservation_claim(struct ckpt_range range)
{
    mark_range(range, 1);
}

void ckpt_reservation_after_fork(void)
{
    lock = (struct ckpt_spinlock){0};
}

struct ckpt_range ckpt_reservation_part(struct ckpt_range range)
{
    uint32_t count = __atomic_load_n(&chunk_count, __ATOMIC_ACQUIRE);
    struct ckpt_range part = {range.end, range.end};
    uint64_t start, end;

    for (uint32_t i = 0; i < count; i++) {
        start = chunks[i].start;
        end = start + chunks[i].pages * PAGE;
        start = start > range.start ? start : range.start;
        end = end < range.end ? end : range.end;
        if (start < end && start < part.start) {
            part = (struct ckpt_range){start, end};
        }
    }
    return part;
}

/* Visits the parts of [start, end) that were not lost. */
static void visit_chunk(struct ckpt_range rest,
                        void (*visit)(void *, struct ckpt_range),
                        void *argument)
{
    uint32_t count = __atomic_load_n(&lost_count, __ATOMIC_ACQUIRE);
    struct ckpt_range next;

    while (rest.start < rest.end) {
        next = (struct ckpt_range){rest.end, rest.end};
        for (uint32_t i = 0; i < count; i++) {
            if (lost[i].start >= rest.start && lost[i].start < next.start) {
                next = lost[i];
            }
        }
        if (rest.start < next.start) {
            visit(argument, (struct ckpt_range){rest.start, next.start});
        }
        rest.start = next.end;
    }
}

void ckpt_reservation_visit(void (*visit)(void *argument,
                                          struct ckpt_range range),
                            void *argument)
{
    uint32_t count = __atomic_load_n(&chunk_count, __ATOMIC_ACQUIRE);
    struct ckpt_range range;

    for (uint32_t i = 0; i < count; i++) {
        range.start = chunks[i].start;
        range.end = range.start + chunks[i].pages * PAGE;
        visit_chunk(range, visit, argument);
    }
}
