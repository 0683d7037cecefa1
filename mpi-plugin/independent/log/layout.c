/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.c - build type maps with MPI_Type_get_contents.
 */
#include "independent/log/layout.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/types/datatype_contents.h"
#include "runtime/crossing.h"

#include <stdlib.h>
#include <string.h>

/* ---- Ranges --------------------------------------------------------------- */

static int grow(struct ckpt_layout *layout)
{
    const uint32_t capacity = layout->capacity * 2;
    const int is_few = layout->range == layout->few;
    struct ckpt_log_range *grown =
        realloc(is_few ? NULL : layout->range, capacity * sizeof(*grown));

    CKPT_INVARIANT(layout->count == layout->capacity && capacity > layout->capacity);
    if (grown == NULL) {
        return MPI_ERR_NO_MEM;
    }
    if (is_few) {
        memcpy(grown, layout->few, sizeof(layout->few));
    }
    layout->range = grown;
    layout->capacity = capacity;
    return MPI_SUCCESS;
}

static int add(struct ckpt_layout *layout, int64_t start, uint64_t bytes)
{
    struct ckpt_log_range *last;

    layout->bytes += bytes;
    if (bytes == 0) {
        return MPI_SUCCESS;
    }
    if (layout->count > 0) {
        last = &layout->range[layout->count - 1];
        if (last->start + last->bytes == (uint64_t)start) {
            last->bytes += bytes;
            return MPI_SUCCESS;
        }
    }
    if (layout->count == layout->capacity && grow(layout) != MPI_SUCCESS) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_INVARIANT(layout->count < layout->capacity);
    layout->range[layout->count++] = (struct ckpt_log_range){(uint64_t)start, bytes};
    return MPI_SUCCESS;
}

/* ---- Type maps ------------------------------------------------------------ */

static int walk(struct ckpt_layout *layout, MPI_Datatype lower, int64_t start, int64_t count);

static int extent_of(MPI_Datatype lower, MPI_Aint *extent)
{
    MPI_Aint bound;
    int code;

    CKPT_CALL(code, Type_get_extent, lower, &bound, extent);
    return code;
}

/* Adds a predefined type, with the gaps that it may have (MPI_SHORT_INT). */
static int walk_named(struct ckpt_layout *layout, MPI_Datatype lower, int64_t start,
                      int64_t count)
{
    MPI_Aint extent;
    const int code = extent_of(lower, &extent);

    if (layout->element == NULL) {
        layout->element = lower;
    }
    return code == MPI_SUCCESS ? add(layout, start, (uint64_t)extent * (uint64_t)count) : code;
}

/* Blocks of elements: their starts in units of `scale` bytes. */
struct blocks {
    int count;
    const int *lengths; /* NULL: all have `length` */
    int length;
    const int *places;       /* starts in units of `scale`; or */
    const MPI_Aint *offsets; /* starts in bytes; or, if both are NULL, */
    int64_t stride;          /* equal distances, in bytes */
    int64_t scale;
};

static int64_t start_of(const struct blocks *blocks, int i)
{
    if (blocks->places != NULL) {
        return blocks->places[i] * blocks->scale;
    }
    return blocks->offsets != NULL ? blocks->offsets[i] : i * blocks->stride;
}

static int walk_blocks(struct ckpt_layout *layout, MPI_Datatype inner, int64_t start,
                       const struct blocks *blocks)
{
    int code = MPI_SUCCESS;

    for (int i = 0; i < blocks->count && code == MPI_SUCCESS; i++) {
        code = walk(layout, inner, start + start_of(blocks, i),
                    blocks->lengths != NULL ? blocks->lengths[i] : blocks->length);
    }
    return code;
}

static int walk_struct(struct ckpt_layout *layout, const struct ckpt_contents *c,
                       int64_t start)
{
    int code = MPI_SUCCESS;

    for (int i = 0; i < c->integers[0] && code == MPI_SUCCESS; i++) {
        code = walk(layout, c->types[i], start + c->addresses[i], c->integers[1 + i]);
    }
    return code;
}

/* Walks one dimension of a subarray after the other, beginning with the slowest. */
static int walk_subarray(struct ckpt_layout *layout, const struct ckpt_contents *c,
                         int64_t extent, int64_t start, int depth)
{
    const int dimensions = c->integers[0], order = c->integers[1 + 3 * dimensions];
    const int *sizes = &c->integers[1], *subsizes = sizes + dimensions;
    const int *starts = subsizes + dimensions;
    const int d = order == MPI_ORDER_C ? depth : dimensions - 1 - depth;
    int64_t stride = extent;
    int code = MPI_SUCCESS;

    for (int k = depth + 1; k < dimensions; k++) {
        stride *= sizes[order == MPI_ORDER_C ? k : dimensions - 1 - k];
    }
    start += starts[d] * stride;
    if (depth == dimensions - 1) {
        return walk(layout, c->types[0], start, subsizes[d]);
    }
    for (int i = 0; i < subsizes[d] && code == MPI_SUCCESS; i++) {
        code = walk_subarray(layout, c, extent, start + i * stride, depth + 1);
    }
    return code;
}

/* Walks one element of a constructed type. The constructor's arguments are in the order of the
 * table of MPI_Type_get_contents (MPI 3.1, section 4.1.13). */
static int walk_contents(struct ckpt_layout *layout, const struct ckpt_contents *c,
                         int64_t start)
{
    const int *n = c->integers;
    MPI_Datatype inner = c->types[0];
    MPI_Aint extent;
    int code = extent_of(inner, &extent);

    if (code != MPI_SUCCESS) {
        return code;
    }
    switch (c->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return walk(layout, inner, start, 1);
    case MPI_COMBINER_CONTIGUOUS:
        return walk(layout, inner, start, n[0]);
    case MPI_COMBINER_VECTOR:
        return walk_blocks(layout, inner, start,
                           &(struct blocks){n[0], NULL, n[1], NULL, NULL, n[2] * extent, 0});
    case MPI_COMBINER_HVECTOR:
        return walk_blocks(layout, inner, start,
                           &(struct blocks){n[0], NULL, n[1], NULL, NULL, c->addresses[0], 0});
    case MPI_COMBINER_INDEXED:
        return walk_blocks(layout, inner, start,
                           &(struct blocks){n[0], n + 1, 0, n + 1 + n[0], NULL, 0, extent});
    case MPI_COMBINER_HINDEXED:
        return walk_blocks(layout, inner, start,
                           &(struct blocks){n[0], n + 1, 0, NULL, c->addresses, 0, 0});
    case MPI_COMBINER_INDEXED_BLOCK:
        return walk_blocks(layout, inner, start,
                           &(struct blocks){n[0], NULL, n[1], n + 2, NULL, 0, extent});
    case MPI_COMBINER_HINDEXED_BLOCK:
        return walk_blocks(layout, inner, start,
                           &(struct blocks){n[0], NULL, n[1], NULL, c->addresses, 0, 0});
    case MPI_COMBINER_STRUCT:
        return walk_struct(layout, c, start);
    case MPI_COMBINER_SUBARRAY:
        return walk_subarray(layout, c, extent, start, 0);
    default: /* MPI_Type_create_darray */
        return MPI_ERR_UNSUPPORTED_OPERATION;
    }
}

static int walk_constructed(struct ckpt_layout *layout, MPI_Datatype lower, int64_t start,
                            int64_t count)
{
    struct ckpt_contents contents;
    MPI_Aint extent;
    int code = extent_of(lower, &extent);

    if (code == MPI_SUCCESS) {
        code = ckpt_contents_read(lower, &contents);
    }
    if (code != MPI_SUCCESS) {
        return code;
    }
    if (contents.size == 0 || contents.type_count == 0) { /* Fortran type by precision */
        ckpt_contents_free(&contents);
        return walk_named(layout, lower, start, count);
    }
    for (int64_t i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = walk_contents(layout, &contents, start + i * extent);
    }
    ckpt_contents_free(&contents);
    return code;
}

static int walk(struct ckpt_layout *layout, MPI_Datatype lower, int64_t start, int64_t count)
{
    return ckpt_predefined_find(lower) != NULL
               ? walk_named(layout, lower, start, count)
               : walk_constructed(layout, lower, start, count);
}

int ckpt_layout_add(struct ckpt_layout *layout, MPI_Datatype lower, int count)
{
    return walk(layout, lower, 0, count);
}

int ckpt_layout_repeat(struct ckpt_layout *layout, const struct ckpt_log_range *ranges,
                       uint32_t range_count, int64_t extent, int count)
{
    int code = MPI_SUCCESS;

    if (range_count == 1 && (int64_t)ranges->bytes == extent) {
        return add(layout, (int64_t)ranges->start, ranges->bytes * (uint64_t)count);
    }
    for (int i = 0; i < count; i++) {
        for (uint32_t k = 0; k < range_count && code == MPI_SUCCESS; k++) {
            code = add(layout, (int64_t)ranges[k].start + i * extent, ranges[k].bytes);
        }
    }
    return code;
}

void ckpt_layout_free(struct ckpt_layout *layout)
{
    if (layout->range != layout->few) {
        free(layout->range);
    }
}

/* ---- Streams ---------------------------------------------------------------- */

/* Returns the part of the i-th range that is in the `bytes` after `skip`. Reduces both to the
 * rest after this range. */
static struct ckpt_log_range part(const struct ckpt_layout *layout, uint32_t i,
                                  uint64_t *skip, uint64_t *bytes)
{
    struct ckpt_log_range part = layout->range[i];
    const uint64_t before = *skip < part.bytes ? *skip : part.bytes;

    part.start += before;
    part.bytes -= before;
    part.bytes = part.bytes < *bytes ? part.bytes : *bytes;
    *skip -= before;
    *bytes -= part.bytes;
    return part;
}

uint32_t ckpt_layout_cut(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                         struct ckpt_log_range *range)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < layout->count && bytes > 0; i++) {
        const struct ckpt_log_range one = part(layout, i, &skip, &bytes);

        if (one.bytes > 0) {
            if (range != NULL) {
                range[count] = one;
            }
            count++;
        }
    }
    CKPT_INVARIANT(bytes == 0);
    return count;
}

void ckpt_layout_read(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                      const char *base, char *to)
{
    for (uint32_t i = 0; i < layout->count && bytes > 0; i++) {
        const struct ckpt_log_range one = part(layout, i, &skip, &bytes);

        memcpy(to, base + (int64_t)one.start, one.bytes);
        to += one.bytes;
    }
    CKPT_INVARIANT(bytes == 0);
}

void ckpt_layout_write(const struct ckpt_layout *layout, uint64_t skip, uint64_t bytes,
                       const char *from, char *base)
{
    for (uint32_t i = 0; i < layout->count && bytes > 0; i++) {
        const struct ckpt_log_range one = part(layout, i, &skip, &bytes);

        memcpy(base + (int64_t)one.start, from, one.bytes);
        from += one.bytes;
    }
    CKPT_INVARIANT(bytes == 0);
}
