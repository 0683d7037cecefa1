/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arguments.c - checks that the lower half usually makes, but cannot make for these
 * windows.
 */
#include "independent/calls/arguments.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "independent/log/type_map.h"

int ckpt_is_type(MPI_Datatype type)
{
    return type != NULL && type != MPI_DATATYPE_NULL && type->handle.references != 0;
}

int ckpt_is_operation(MPI_Op op)
{
    return op != NULL && op != MPI_OP_NULL && (op->handle.flags & CKPT_HANDLE_PREDEFINED);
}

/* Checks that the whole range is in the target's memory, and that the origin has enough
 * data. */
static int check_range(const struct ckpt_transfer *transfer, uint64_t size)
{
    const struct ckpt_layout *target = &transfer->target;

    for (uint32_t i = 0; i < target->count; i++) {
        const struct ckpt_log_range *range = &target->range[i];
        const int64_t first = transfer->start + (int64_t)range->start;

        if (first < 0 || (uint64_t)first > size || range->bytes > size - (uint64_t)first) {
            return MPI_ERR_RMA_RANGE;
        }
    }
    return transfer->origin.bytes < target->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int ckpt_transfer_open(struct ckpt_transfer *transfer, int origin_count,
                       MPI_Datatype origin_type, int target, MPI_Aint place,
                       int target_count, MPI_Datatype target_type, MPI_Win win)
{
    const struct ckpt_segment *segment;
    int code;

    ckpt_layout_begin(&transfer->origin);
    ckpt_layout_begin(&transfer->target);
    if (origin_count < 0 || target_count < 0 || !ckpt_is_type(origin_type) ||
        !ckpt_is_type(target_type) || target < 0 || target >= win->comm->size ||
        place < 0 || !ckpt_window_may_access(win, target)) {
        return CKPT_ACCESS_WRONG;
    }
    CKPT_INVARIANT(win->independent != NULL && win->shared != NULL &&
                   win->shared->count == win->comm->size);
    segment = &win->shared->segment[target];
    transfer->start = (int64_t)place * (int64_t)segment->unit;
    code = ckpt_type_map_add(&transfer->origin, origin_type, origin_count, NULL);
    if (code == MPI_SUCCESS) {
        code = ckpt_type_map_add(&transfer->target, target_type, target_count,
                                 &transfer->element);
    }
    return code == MPI_SUCCESS ? check_range(transfer, segment->size) : code;
}

void ckpt_transfer_close(struct ckpt_transfer *transfer)
{
    ckpt_layout_free(&transfer->origin);
    ckpt_layout_free(&transfer->target);
}
