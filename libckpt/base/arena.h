/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h - memory for quiesced code: mmap, never malloc.
 *
 * It has two allocators: a bump allocator with a string table for one snapshot, and a small
 * general allocator for longer-lived objects (the message log, handles made while quiesced).
 */
#ifndef CKPT_ARENA_H
#define CKPT_ARENA_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* A position in an arena; the memory after it is free. */
struct ckpt_arena_place {
    struct ckpt_arena_piece *piece; /* NULL: before the first piece */
    size_t used;                    /* bytes used of that piece */
};

struct ckpt_arena {
    struct ckpt_arena_piece *pieces; /* mappings, in the order of their use */
    struct ckpt_arena_place at;
    char *strings; /* string table: reserved at open, so that its address never changes */
    size_t strings_used;
    size_t strings_committed; /* bytes usable without a change of the mappings */
    unsigned long changes;    /* how often the arena's mappings have changed */
};

/* Reserves 16 MiB of address space and almost no memory. Returns 0 or -errno. Context:
 * normal. */
int ckpt_arena_open(struct ckpt_arena *arena);
/* Unmaps the arena. Context: quiesced. */
void ckpt_arena_close(struct ckpt_arena *arena);
/* Frees all objects; keeps the memory for reuse. Context: quiesced. */
void ckpt_arena_reset(struct ckpt_arena *arena);
/* rewind() frees the objects made since mark() returned that position. Context: quiesced. */
struct ckpt_arena_place ckpt_arena_mark(const struct ckpt_arena *arena);
void ckpt_arena_rewind(struct ckpt_arena *arena, struct ckpt_arena_place mark);
/* Returns zeroed, 16-byte aligned memory, or NULL if the kernel has none. May change the
 * mappings of the process. Context: quiesced. */
void *ckpt_arena_alloc(struct ckpt_arena *arena, size_t size);
/* Copies a string into the table. Returns its offset; 0 for NULL, for "", or if the table is
 * full. May change the mappings of the process. Context: quiesced. */
ckpt_string_t ckpt_arena_string(struct ckpt_arena *arena, const char *text);

#define CKPT_POOL_CLASSES 13

/* A general allocator outside the application's malloc. Zero-initialise it. */
struct ckpt_pool {
    struct ckpt_free_block *free[CKPT_POOL_CLASSES];
    char *chunk; /* start of the unused rest of the newest chunk */
    size_t chunk_left;
};

/* alloc returns 16-byte aligned memory, or NULL if the kernel has none. free takes the `size`
 * that alloc was called with. The caller ensures that only one thread at a time uses a pool.
 * Context: any but freestanding. */
void *ckpt_pool_alloc(struct ckpt_pool *pool, size_t size);
void ckpt_pool_free(struct ckpt_pool *pool, void *memory, size_t size);

/* General allocation outside the application's malloc, 16-byte aligned.
 * Not thread-safe: MPI thread only. Context: any but freestanding. */
void *ckpt_memory_alloc(size_t size);
void ckpt_memory_free(void *memory, size_t size);

#endif
