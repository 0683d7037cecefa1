/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking_call.c - copy the description of a nonblocking collective, and keep alive
 * the objects it uses.
 */
#include "cut/collectives/nonblocking.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/kinds.h"

#include <string.h>

static size_t side_size(const struct ckpt_side *side)
{
    const size_t blocks = (size_t)side->blocks;
    size_t size = 0;

    CKPT_INVARIANT(side->blocks >= 0);
    size += side->types == NULL ? 0 : 2 * blocks * sizeof(void *);
    size += side->displs == NULL ? 0 : blocks * sizeof(MPI_Aint);
    size += side->counts == NULL ? 0 : blocks * sizeof(MPI_Aint);
    return size;
}

static const void *copy(char **to, const void *from, size_t size)
{
    void *place = *to;

    if (from == NULL || size == 0) {
        return from;
    }
    memcpy(place, from, size);
    *to += (size + sizeof(MPI_Aint) - 1) & ~(sizeof(MPI_Aint) - 1);
    return place;
}

static void copy_side(struct ckpt_side *side, char **to)
{
    const size_t blocks = (size_t)side->blocks;
    const size_t displacement =
        side->aint_displs ? sizeof(MPI_Aint) : sizeof(int);

    if (side->types != NULL) {
        side->types = copy(to, side->types, blocks * sizeof(void *));
        side->lower_types = (void **)*to;
        *to += blocks * sizeof(void *);
    }
    side->displs = copy(to, side->displs, blocks * displacement);
    side->counts = copy(to, side->counts, blocks * sizeof(int));
}

/* Applies ckpt_retain or ckpt_drop to all types of a side. */
static void each_type(const struct ckpt_side *side, void (*apply)(void *))
{
    for (int i = 0; side->types != NULL && i < side->blocks; i++) {
        if (side->types[i] != NULL) {
            apply(side->types[i]);
        }
    }
    if (side->types == NULL && side->blocks > 0 && side->type != NULL) {
        apply(side->type);
    }
}

static void each_used(const struct ckpt_nonblocking *call, void (*apply)(void *))
{
    each_type(&call->send, apply);
    each_type(&call->receive, apply);
    if (call->op != NULL) {
        apply(call->op);
    }
    apply(call->communicator);
}

static void retain(void *object)
{
    ckpt_retain(object);
}

struct ckpt_nonblocking *
ckpt_nonblocking_copy(const struct ckpt_nonblocking *given)
{
    const size_t size = sizeof(*given) + side_size(&given->send) +
                        side_size(&given->receive);
    struct ckpt_nonblocking *call = ckpt_memory_alloc(size);
    char *more = (char *)(call + 1);

    if (call != NULL) {
        *call = *given;
        call->size = size;
        copy_side(&call->send, &more);
        copy_side(&call->receive, &more);
        CKPT_INVARIANT(more <= (char *)call + size);
    }
    return call;
}

void ckpt_nonblocking_retain(struct ckpt_nonblocking *call)
{
    each_used(call, retain);
}

void ckpt_nonblocking_drop(struct ckpt_nonblocking *call)
{
    each_used(call, ckpt_drop);
}
