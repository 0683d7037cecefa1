/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.c - memory for quiesced code: mmap, never malloc.
 *
 * An arena maps its whole reservation readable and writable at once: pages
 * cost nothing before they are touched, and the process's memory map does not
 * change between the scan of the regions and the end of the checkpoint.
 */
#include "base/arena.h"

#include "sys/syscall.h"

#include <string.h>
#include <sys/mman.h>

#define ARENA_SIZE ((size_t)64 << 20)
#define STRINGS_SIZE ((size_t)16 << 20)

/* Private zeroed memory: its address, or -errno. */
static long map_memory(size_t size)
{
    return ckpt_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int ckpt_arena_open(struct ckpt_arena *arena)
{
    long memory = map_memory(ARENA_SIZE);
    long strings;

    if (ckpt_sys_failed(memory)) {
        return (int)memory;
    }
    strings = map_memory(STRINGS_SIZE);
    if (ckpt_sys_failed(strings)) {
        ckpt_sys_munmap((void *)memory, ARENA_SIZE);
        return (int)strings;
    }
    arena->memory = (char *)memory;
    arena->committed = ARENA_SIZE;
    arena->strings = (char *)strings;
    arena->strings_committed = STRINGS_SIZE;
    ckpt_arena_reset(arena);
    return 0;
}

void ckpt_arena_close(struct ckpt_arena *arena)
{
    ckpt_sys_munmap(arena->memory, arena->committed);
    ckpt_sys_munmap(arena->strings, arena->strings_committed);
    *arena = (struct ckpt_arena){0};
}

void ckpt_arena_reset(struct ckpt_arena *arena)
{
    arena->used = 0;
    arena->strings[0] = '\0'; /* offset 0 is the empty string */
    arena->strings_used = 1;
}

void *ckpt_arena_alloc(struct ckpt_arena *arena, size_t size)
{
    void *object = arena->memory + arena->used;
    size_t room = arena->committed - arena->used;

    if (size > room) {
        return NULL;
    }
    /* `room` is a multiple of 16, so rounding up stays within it. */
    arena->used += (size + 15) & ~(size_t)15;
    return memset(object, 0, size);
}

ckpt_string_t ckpt_arena_string(struct ckpt_arena *arena, const char *text)
{
    size_t offset = arena->strings_used;
    size_t size;

    if (text == NULL || text[0] == '\0') {
        return 0;
    }
    size = strlen(text) + 1;
    if (size > arena->strings_committed - offset) {
        return 0;
    }
    memcpy(arena->strings + offset, text, size);
    arena->strings_used += size;
    return (ckpt_string_t)offset;
}

/*
 * The general allocator: free lists of blocks of 16, 32 ... 64 KiB, cut from
 * chunks; anything larger is a mapping of its own. The caller knows each size,
 * so blocks have no headers. Small blocks never go back to the kernel.
 */
#define SMALLEST_CLASS 16ul
#define LARGEST_CLASS (SMALLEST_CLASS << (CKPT_POOL_CLASSES - 1))
#define CHUNK_SIZE ((size_t)1 << 20)
#define PAGE_SIZE 4096ul

struct ckpt_free_block {
    struct ckpt_free_block *next;
};

static struct ckpt_pool general;

static unsigned size_class(size_t size)
{
    unsigned class = 0;

    while ((SMALLEST_CLASS << class) < size) {
        class++;
    }
    return class;
}

static size_t page_round(size_t size)
{
    return (size + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
}

/* Gives what is left of the chunk to the free lists, largest blocks first. */
static void retire_chunk(struct ckpt_pool *pool)
{
    for (int class = CKPT_POOL_CLASSES - 1; class >= 0; class--) {
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
}

static void *cut_block(struct ckpt_pool *pool, size_t size)
{
    void *block;

    if (pool->chunk_left < size) {
        long memory = map_memory(CHUNK_SIZE);

        if (ckpt_sys_failed(memory)) {
            return NULL;
        }
        retire_chunk(pool);
        pool->chunk = (char *)memory;
        pool->chunk_left = CHUNK_SIZE;
    }
    block = pool->chunk;
    pool->chunk += size;
    pool->chunk_left -= size;
    return block;
}

/* The memory is not zeroed. NULL when the kernel has none. */
void *ckpt_pool_alloc(struct ckpt_pool *pool, size_t size)
{
    struct ckpt_free_block *block;
    unsigned class;
    long memory;

    if (size > LARGEST_CLASS) {
        if (size > SIZE_MAX / 2) {
            return NULL;
        }
        memory = map_memory(page_round(size));
        return ckpt_sys_failed(memory) ? NULL : (void *)memory;
    }
    class = size_class(size);
    block = pool->free[class];
    if (block == NULL) {
        return cut_block(pool, SMALLEST_CLASS << class);
    }
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
    class = size_class(size);
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
