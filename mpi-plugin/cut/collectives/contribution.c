/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contribution.c - copy the input of a nonblocking collective, and lend buffers to
 * a collective that a restart begins again only for other members.
 */
#include "cut/collectives/contribution.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "runtime/crossing.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define SCRATCH_LIMIT (UINT64_C(1) << 30) /* reached by types with wide gaps */

/* One block of a side, with the lower handle of its type. */
struct block {
    int index;
    int count;
    MPI_Aint offset;    /* from the buffer's address */
    MPI_Aint following; /* offset of a block that directly follows */
    MPI_Datatype lower;
    MPI_Aint extent, true_start, true_extent;
};

static int measure(struct block *block)
{
    MPI_Aint ignored;
    int code;

    CKPT_CALL(code, Type_get_extent, block->lower, &ignored, &block->extent);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Type_get_true_extent, block->lower, &block->true_start,
                  &block->true_extent);
    }
    return code;
}

static MPI_Aint displacement(const struct ckpt_side *side, int index)
{
    return side->aint_displs ? ((const MPI_Aint *)side->displs)[index]
                             : ((const int *)side->displs)[index];
}

/* Steps to the next block of the side; begin with an index of -1 and zeros.
 * Returns 0 after the last block, or if the lower half cannot measure the block's
 * type. */
static int next_block(const struct ckpt_side *side, struct block *block)
{
    const int i = ++block->index;
    MPI_Datatype lower;

    if (i >= side->blocks) {
        return 0;
    }
    lower = CKPT_LOWER(side->types != NULL ? side->types[i] : side->type);
    if (lower != block->lower) {
        block->lower = lower;
        if (measure(block) != MPI_SUCCESS) {
            return 0;
        }
    }
    block->count = side->counts != NULL ? side->counts[i] : side->count;
    block->offset = block->following;
    if (side->displs != NULL) {
        block->offset = displacement(side, i) *
                        (side->types != NULL ? 1 : block->extent);
    }
    block->following = block->offset + block->count * block->extent;
    return 1;
}

#define EACH_BLOCK(side, block)            \
    (block) = (struct block){.index = -1}; \
    next_block((side), &(block));

static int contributes(const struct ckpt_nonblocking *call)
{
    const MPI_Comm comm = call->communicator;

    switch (call->flow) {
    case CKPT_FLOW_FROM_ROOT:
        return call->root == (comm->inter ? MPI_ROOT : comm->rank);
    case CKPT_FLOW_TO_ROOT:
        return !comm->inter || call->root >= 0;
    default:
        return 1;
    }
}

/* The side that holds the input; is_input() tells whether block i belongs to
 * it. */
static const struct ckpt_side *input_side(const struct ckpt_nonblocking *call)
{
    static const struct ckpt_side none;

    if (!contributes(call)) {
        return &none;
    }
    return call->in_receive ? &call->receive : &call->send;
}

static int is_input(const struct ckpt_nonblocking *call, int i)
{
    return !(call->in_receive && call->own_block) ||
           i == call->communicator->rank;
}

size_t ckpt_contribution_size(const struct ckpt_nonblocking *call)
{
    const struct ckpt_side *side = input_side(call);
    struct block block;
    size_t total = 0;

    for (EACH_BLOCK(side, block)) {
        int code = MPI_SUCCESS, size = 0;

        if (is_input(call, block.index)) {
            CKPT_CALL(code, Pack_size, block.count, block.lower,
                      CKPT_LOWER(MPI_COMM_SELF), &size);
            total += (size_t)size;
        }
        if (code != MPI_SUCCESS || size < 0 || total > INT_MAX) {
            return SIZE_MAX;
        }
    }
    return block.index < side->blocks ? SIZE_MAX : total;
}

/* Copies between the side's buffer and call->input. */
static int transfer(struct ckpt_nonblocking *call, const struct ckpt_side *side,
                    int packing)
{
    const int size = (int)call->input_size;
    int position = 0, code = MPI_SUCCESS;
    struct block block;

    for (EACH_BLOCK(side, block)) {
        char *at = (char *)side->buffer + block.offset;

        if (!is_input(call, block.index)) {
            continue;
        }
        if (packing) {
            CKPT_CALL(code, Pack, at, block.count, block.lower, call->input,
                      size, &position, CKPT_LOWER(MPI_COMM_SELF));
        } else {
            CKPT_CALL(code, Unpack, call->input, size, &position, at,
                      block.count, block.lower, CKPT_LOWER(MPI_COMM_SELF));
        }
        if (code != MPI_SUCCESS) {
            break;
        }
    }
    CKPT_INVARIANT(code != MPI_SUCCESS || position <= size);
    return code;
}

int ckpt_contribution_keep(struct ckpt_nonblocking *call)
{
    const size_t size = ckpt_contribution_size(call);

    if (call->has_input) {
        return 1;
    }
    if (size == SIZE_MAX) {
        return 0;
    }
    if (size > 0) {
        CKPT_INVARIANT(call->input == NULL);
        call->input = ckpt_memory_alloc(size);
        call->input_size = size;
        if (call->input == NULL ||
            transfer(call, input_side(call), 1) != MPI_SUCCESS) {
            ckpt_contribution_drop(call);
            return 0;
        }
    }
    call->has_input = 1;
    return 1;
}

void ckpt_contribution_drop(struct ckpt_nonblocking *call)
{
    ckpt_memory_free(call->input, call->input_size);
    call->input = NULL;
    call->input_size = 0;
    call->has_input = 0;
}

int ckpt_contribution_restore(struct ckpt_nonblocking *call)
{
    return call->input == NULL ? MPI_SUCCESS
                               : transfer(call, input_side(call), 0);
}

/* Bytes between the lowest and the highest address of a side's blocks; SIZE_MAX if
 * unknown. */
static size_t span(const struct ckpt_side *side, MPI_Aint *start)
{
    MPI_Aint low = PTRDIFF_MAX, high = PTRDIFF_MIN;
    struct block block;

    for (EACH_BLOCK(side, block)) {
        MPI_Aint first = block.offset + block.true_start;
        MPI_Aint last = first + (block.count - 1) * block.extent;

        if (block.count > 0) {
            const MPI_Aint end = (first < last ? last : first) + block.true_extent;

            low = first < low ? first : low; /* the extent may be negative */
            low = last < low ? last : low;
            high = end > high ? end : high;
        }
    }
    if (block.index < side->blocks) {
        return SIZE_MAX;
    }
    *start = low < high ? low : 0;
    return low < high ? (size_t)(high - low) : 0;
}

int ckpt_contribution_fits(const struct ckpt_nonblocking *call)
{
    MPI_Aint ignored;

    return (call->in_receive || span(&call->send, &ignored) <= SCRATCH_LIMIT) &&
           span(&call->receive, &ignored) <= SCRATCH_LIMIT;
}

static int lend(struct ckpt_side *side, struct ckpt_scratch *scratch)
{
    MPI_Aint start;

    CKPT_INVARIANT(scratch->memory == NULL); /* what was lent before was taken back */
    scratch->size = span(side, &start);
    if (side->blocks == 0 || scratch->size == 0) {
        scratch->size = 0;
        return MPI_SUCCESS;
    }
    if (scratch->size > SCRATCH_LIMIT) {
        return MPI_ERR_NO_MEM;
    }
    scratch->memory = ckpt_memory_alloc(scratch->size);
    side->buffer = scratch->memory - start;
    return scratch->memory == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

int ckpt_contribution_lend(struct ckpt_nonblocking *call,
                           struct ckpt_nonblocking *own)
{
    int code;

    *own = *call;
    code = lend(&own->receive, &call->scratch[0]);
    if (code == MPI_SUCCESS && !call->in_receive) {
        code = lend(&own->send, &call->scratch[1]);
    }
    return code == MPI_SUCCESS ? ckpt_contribution_restore(own) : code;
}

void ckpt_contribution_take_back(struct ckpt_nonblocking *call)
{
    for (int i = 0; i < 2; i++) {
        ckpt_memory_free(call->scratch[i].memory, call->scratch[i].size);
        call->scratch[i] = (struct ckpt_scratch){NULL, 0};
    }
}

int ckpt_contribution_receives_all(const struct ckpt_nonblocking *call)
{
    const struct ckpt_side *side = &call->receive;
    int code = MPI_SUCCESS, size = 0;

    if (side->types != NULL) {
        return 0; /* mixed types: not worth checking */
    }
    if (side->blocks > 0) {
        CKPT_CALL(code, Type_size, CKPT_LOWER(side->type), &size);
    }
    for (int i = 0; i < side->blocks; i++) {
        if ((side->counts != NULL ? side->counts[i] : side->count) <= 0) {
            return 0;
        }
    }
    return code == MPI_SUCCESS && size > 0;
}
