/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arena.h - memory for quiesced code: mmap, never malloc.
 *
 * Two things: a bump allocator for one snapshot with a table of strings, and a
 * small general allocator for what lives longer (message log, handles made
 * while quiesced).
 */
#ifndef CKPT_ARENA_H
#define CKPT_ARENA_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* A place in an arena: what is behind it is free. */
struct ckpt_arena_place {
    struct ckpt_arena_piece *piece; /* NULL: before the first */
    size_t used;                    /* bytes of it */
};

struct ckpt_arena {
    struct ckpt_arena_piece *pieces; /* mappings, in the order of their use */
    struct ckpt_arena_place at;
    char *strings; /* string table: reserved at open, so that its address never changes */
    size_t strings_used;
    size_t strings_committed; /* bytes that can be used without a change */
    unsigned long changes;    /* how often its mappings have changed */
};

/* Takes next to no memory, and 16 MiB of address space. 0 or -errno. Normal. */
int ckpt_arena_open(struct ckpt_arena *arena);
/* Unmaps it. Context: quiesced. */
void ckpt_arena_close(struct ckpt_arena *arena);
/* Forgets all objects; keeps and reuses the memory. Context: quiesced. */
void ckpt_arena_reset(struct ckpt_arena *arena);
/* Forgets the objects made since mark() gave that place. Context: quiesced. */
struct ckpt_arena_place ckpt_arena_mark(const struct ckpt_arena *arena);
void ckpt_arena_rewind(struct ckpt_arena *arena, struct ckpt_arena_place mark);
/* Zeroed, 16-byte aligned; NULL when the kernel has no memory. May change the mappings of the
 * process. Quiesced. */
void *ckpt_arena_alloc(struct ckpt_arena *arena, size_t size);
/* Copies a string into the table; 0 for NULL, "" or when full. May change the mappings of
 * the process. Quiesced. */
ckpt_string_t ckpt_arena_string(struct ckpt_arena *arena, const char *text);

#define CKPT_POOL_CLASSES 13

/* Blocks outside the application's malloc; zeroed at first. */
struct ckpt_pool {
    struct ckpt_free_block *free[CKPT_POOL_CLASSES];
    char *chunk; /* the rest of the newest chunk */
    size_t chunk_left;
};

/* 16-byte aligned; NULL when the kernel has no memory. free: `size` as it was
 * given to alloc. The caller sees to it that one thread at a time uses a pool.
 * Context: any but freestanding. */
void *ckpt_pool_alloc(struct ckpt_pool *pool, size_t size);
void ckpt_pool_free(struct ckpt_pool *pool, void *memory, size_t size);

/* General allocation outside the application's malloc, 16-byte aligned.
 * Not thread-safe: MPI thread only. Context: any but freestanding. */
void *ckpt_memory_alloc(size_t size);
void ckpt_memory_free(void *memory, size_t size);

#endif
