/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * combine.c - combine with the lower half's MPI_Reduce_local, which knows all
 * types and operations.
 */
#include "independent/log/combine.h"

#include "base/invariant.h"
#include "handles/handles.h"
#include "independent/log/type_map.h"
#include "runtime/crossing.h"

/* Most elements combined in one call: the count is an int. */
#define MOST (UINT64_C(1) << 30)

/* The target's memory is the first operand. */
static int combine_range(MPI_Datatype element, uint64_t extent, char *operand,
                         const char *memory, uint64_t bytes, MPI_Op op)
{
    int code = MPI_SUCCESS;

    CKPT_INVARIANT(bytes % extent == 0); /* whole elements */
    for (uint64_t left = bytes / extent; left > 0 && code == MPI_SUCCESS;) {
        const uint64_t count = left < MOST ? left : MOST;

        CKPT_CALL(code, Reduce_local, memory, operand, (int)count, CKPT_LOWER(element),
                  CKPT_LOWER(op));
        operand += count * extent;
        memory += count * extent;
        left -= count;
    }
    return code;
}

int ckpt_combine(struct ckpt_log_record *record, const char *memory, MPI_Op op,
                 MPI_Datatype element)
{
    const struct ckpt_log_range *range = ckpt_log_ranges(record);
    char *operand = ckpt_log_bytes(record);
    int64_t extent;
    int code;

    if (op == MPI_REPLACE) {
        return MPI_SUCCESS;
    }
    code = ckpt_type_map_extent(element, &extent);
    if (code == MPI_SUCCESS && extent <= 0) {
        code = MPI_ERR_TYPE;
    }
    for (uint32_t i = 0; i < record->range_count && code == MPI_SUCCESS; i++) {
        code = combine_range(element, (uint64_t)extent, operand, memory + range[i].start,
                             range[i].bytes, op);
        operand += range[i].bytes;
    }
    return code;
}
