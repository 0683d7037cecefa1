/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.c - memory for quiesced code: mmap, never malloc.
 *
 * An arena maps pieces from the kernel as it needs them, and keeps them. It maps no more than
 * that because the process may have a limit on its address space or committed memory.
 */
#include "base/arena.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_SIZE  4096ul
#define PIECE_SIZE ((size_t)1 << 20)

/* Sizes of the string table. Its address must not change, so the arena reserves the whole table
 * and makes it accessible in steps. */
#define STRINGS_SIZE ((size_t)16 << 20)
#define STRINGS_STEP ((size_t)256 << 10)

/* Header at the start of each mapping; the arena allocates objects from the rest. */
struct ckpt_arena_piece {
    struct ckpt_arena_piece *next;
    size_t size; /* bytes of the mapping */
};
#define HEADER sizeof(struct ckpt_arena_piece)
_Static_assert(STRINGS_SIZE % STRINGS_STEP == 0, "the table grows in whole steps");
_Static_assert(STRINGS_SIZE <= UINT32_MAX, "an offset fits into a ckpt_string_t");
_Static_assert(HEADER % 16 == 0, "objects are aligned");

/* Maps private zeroed memory. Returns its address, or -errno. */
static long map_memory(size_t size, int protection)
{
    return ckpt_sys_mmap(NULL, size, protection,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static size_t page_round(size_t size)
{
    CKPT_INVARIANT(size <= SIZE_MAX - PAGE_SIZE);
    return (size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

int ckpt_arena_open(struct ckpt_arena *arena)
{
    long strings = map_memory(STRINGS_SIZE, PROT_NONE);

    if (ckpt_sys_failed(strings)) {
        return (int)strings;
    }
    *arena = (struct ckpt_arena){.strings = (char *)strings};
    if (ckpt_sys_mprotect(arena->strings, STRINGS_STEP, PROT_READ | PROT_WRITE) != 0) {
        ckpt_arena_close(arena);
        return -ENOMEM;
    }
    arena->strings_committed = STRINGS_STEP;
    ckpt_arena_reset(arena);
    return 0;
}

void ckpt_arena_close(struct ckpt_arena *arena)
{
    while (arena->pieces != NULL) {
        struct ckpt_arena_piece *piece = arena->pieces;

        arena->pieces = piece->next;
        ckpt_sys_munmap(piece, piece->size);
    }
    ckpt_sys_munmap(arena->strings, STRINGS_SIZE);
    *arena = (struct ckpt_arena){0};
}

void ckpt_arena_reset(struct ckpt_arena *arena)
{
    CKPT_INVARIANT(arena->strings_committed >= STRINGS_STEP); /* it is open */
    ckpt_arena_rewind(arena, (struct ckpt_arena_place){arena->pieces, HEADER});
    arena->strings[0] = '\0'; /* offset 0 is the empty string */
    arena->strings_used = 1;
}

struct ckpt_arena_place ckpt_arena_mark(const struct ckpt_arena *arena)
{
    return arena->at;
}

void ckpt_arena_rewind(struct ckpt_arena *arena, struct ckpt_arena_place mark)
{
    CKPT_INVARIANT(mark.piece == NULL || (mark.used >= HEADER && mark.used <= mark.piece->size));
    arena->at = mark.piece == NULL
                    ? (struct ckpt_arena_place){arena->pieces, HEADER}
                    : mark;
}

/* Adds a piece with at least `room` free bytes after the current one. Returns 0 or -ENOMEM. */
static int add_piece(struct ckpt_arena *arena, size_t room)
{
    struct ckpt_arena_piece *piece;
    size_t size = page_round(room + HEADER);
    long memory;

    size = size < PIECE_SIZE ? PIECE_SIZE : size;
    memory = map_memory(size, PROT_READ | PROT_WRITE);
    if (ckpt_sys_failed(memory)) {
        return -ENOMEM;
    }
    piece = (struct ckpt_arena_piece *)memory;
    piece->size = size;
    if (arena->at.piece == NULL) {
        piece->next = arena->pieces;
        arena->pieces = piece;
    } else {
        piece->next = arena->at.piece->next;
        arena->at.piece->next = piece;
    }
    CKPT_INVARIANT(piece->size - HEADER >= room);
    arena->changes++;
    arena->at = (struct ckpt_arena_place){piece, HEADER};
    return 0;
}

/* Advances to a piece with `room` free bytes; skipped smaller ones stay unused. Returns 0 or
 * -ENOMEM. */
static int find_room(struct ckpt_arena *arena, size_t room)
{
    struct ckpt_arena_place at = arena->at;

    CKPT_INVARIANT(at.piece == NULL || at.used <= at.piece->size);
    while (at.piece != NULL && at.piece->size - at.used < room) {
        at = (struct ckpt_arena_place){at.piece->next, HEADER};
    }
    if (at.piece == NULL) {
        return add_piece(arena, room);
    }
    arena->at = at;
    return 0;
}

void *ckpt_arena_alloc(struct ckpt_arena *arena, size_t size)
{
    void *object;

    if (size > SIZE_MAX / 2) {
        return NULL;
    }
    size = (size + 15) & ~(size_t)15;
    if (find_room(arena, size) != 0) {
        return NULL;
    }
    object = (char *)arena->at.piece + arena->at.used;
    arena->at.used += size;
    CKPT_INVARIANT((uintptr_t)object % 16 == 0 && arena->at.used <= arena->at.piece->size);
    return memset(object, 0, size);
}

/* Makes room for `size` more bytes in the table accessible. Returns 0 or -ENOMEM. */
static int grow_strings(struct ckpt_arena *arena, size_t size)
{
    const size_t used = arena->strings_used;
    size_t committed = arena->strings_committed;

    CKPT_INVARIANT(used <= committed && committed <= STRINGS_SIZE);
    if (size > STRINGS_SIZE - used) {
        return -ENOMEM;
    }
    while (committed < used + size) {
        committed += STRINGS_STEP;
    }
    if (ckpt_sys_mprotect(arena->strings, committed, PROT_READ | PROT_WRITE) != 0) {
        return -ENOMEM;
    }
    arena->strings_committed = committed;
    arena->changes++;
    return 0;
}

ckpt_string_t ckpt_arena_string(struct ckpt_arena *arena, const char *text)
{
    size_t offset = arena->strings_used;
    size_t size;

    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    size = strlen(text) + 1;
    if (size > arena->strings_committed - offset && grow_strings(arena, size) != 0) {
        return 0;
    }
    CKPT_INVARIANT(offset + size <= arena->strings_committed);
    memcpy(arena->strings + offset, text, size);
    arena->strings_used += size;
    return (ckpt_string_t)offset;
}

/*
 * The general allocator: free lists of blocks of 16, 32 ... 64 KiB, cut from chunks; each
 * larger block is a separate mapping. The caller knows each size, so blocks have no headers.
 * The allocator never returns small blocks to the kernel.
 */
#define SMALLEST_CLASS 16ul
#define LARGEST_CLASS  (SMALLEST_CLASS << (CKPT_POOL_CLASSES - 1))
#define CHUNK_SIZE     ((size_t)1 << 20)
_Static_assert(LARGEST_CLASS <= CHUNK_SIZE, "a block is cut from one chunk");

struct ckpt_free_block {
    struct ckpt_free_block *next;
};

static struct ckpt_pool general;

static unsigned size_class(size_t size)
{
    unsigned class = 0;

    while ((SMALLEST_CLASS << class) < size) {
        class ++;
    }
    CKPT_INVARIANT(class < CKPT_POOL_CLASSES);
    return class;
}

/* Puts the rest of the chunk on the free lists, largest blocks first. */
static void retire_chunk(struct ckpt_pool *pool)
{
    for (int class = CKPT_POOL_CLASSES - 1; class >= 0; class --) {
        size_t size = SMALLEST_CLASS << class;

        while (pool->chunk_left >= size) {
            struct ckpt_free_block *block =
                (struct ckpt_free_block *)pool->chunk;

            block->next = pool->free[class];
            pool->free[class] = block;
            pool->chunk += size;
            pool->chunk_left -= size;
        }
    }
    CKPT_INVARIANT(pool->chunk_left == 0); /* sizes are multiples of the smallest class */
}

static void *cut_block(struct ckpt_pool *pool, size_t size)
{
    void *block;

    if (pool->chunk_left < size) {
        long memory = map_memory(CHUNK_SIZE, PROT_READ | PROT_WRITE);

        if (ckpt_sys_failed(memory)) {
            return NULL;
        }
        retire_chunk(pool);
        pool->chunk = (char *)memory;
        pool->chunk_left = CHUNK_SIZE;
    }
    CKPT_INVARIANT(pool->chunk_left >= size);
    block = pool->chunk;
    pool->chunk += size;
    pool->chunk_left -= size;
    return block;
}

/* The memory is not zeroed. Returns NULL if the kernel has no memory. */
void *ckpt_pool_alloc(struct ckpt_pool *pool, size_t size)
{
    struct ckpt_free_block *block;
    unsigned class;
    long memory;

    if (size > LARGEST_CLASS) {
        if (size > SIZE_MAX / 2) {
            return NULL;
        }
        memory = map_memory(page_round(size), PROT_READ | PROT_WRITE);
        return ckpt_sys_failed(memory) ? NULL : (void *)memory;
    }
    class = size_class(size);
    block = pool->free[class];
    if (block == NULL) {
        return cut_block(pool, SMALLEST_CLASS << class);
    }
    /* A store to a freed block shows here. */
    CKPT_INVARIANT((uintptr_t)block->next % SMALLEST_CLASS == 0);
    pool->free[class] = block->next;
    return block;
}

/* size: as given to ckpt_pool_alloc. NULL is allowed. */
void ckpt_pool_free(struct ckpt_pool *pool, void *memory, size_t size)
{
    struct ckpt_free_block *block = (struct ckpt_free_block *)memory;
    unsigned class;

    if (memory == NULL) {
        return;
    }
    if (size > LARGEST_CLASS) {
        ckpt_sys_munmap(memory, page_round(size));
        return;
    }
    CKPT_INVARIANT((uintptr_t)memory % SMALLEST_CLASS == 0);
    class = size_class(size);
    CKPT_INVARIANT(block != pool->free[class]); /* freed twice */
    block->next = pool->free[class];
    pool->free[class] = block;
}

void *ckpt_memory_alloc(size_t size)
{
    return ckpt_pool_alloc(&general, size);
}

void ckpt_memory_free(void *memory, size_t size)
{
    ckpt_pool_free(&general, memory, size);
}
