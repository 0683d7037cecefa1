/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blob_args.h - the structure that the restart program passes to the
 * freestanding blob: a plan without decisions, in the order of its execution.
 */
#ifndef CKPT_BLOB_ARGS_H
#define CKPT_BLOB_ARGS_H

#include "ckpt/snapshot.h"

#include <linux/prctl.h>
#include <stdint.h>

/* Existing memory to move to another address. */
struct ckpt_blob_move {
    uint64_t from;
    uint64_t to;
    uint64_t size;
};

/* Memory to create at its final address. */
struct ckpt_blob_map {
    uint64_t start;
    uint64_t size;
    uint64_t protection; /* PROT_*; includes PROT_WRITE if `source` is not 0 */
    uint64_t flags;      /* MAP_* */
    uint64_t source;     /* address of the staged bytes to copy into it, or 0 */
};

/* The last step for a region: its protection in the saved process. */
struct ckpt_blob_protection {
    uint64_t start;
    uint64_t size;
    uint64_t protection; /* PROT_* */
};

/* All pointers lead into the blob's own area, which overlaps nothing else. */
struct ckpt_blob_args {
    /* Ranges that survive the removal of the restart program: sorted,
     * disjoint. */
    const struct ckpt_range *kept;
    const struct ckpt_blob_move *moves; /* executed in this order: vDSO group
                                           first */
    const struct ckpt_blob_map *maps;
    const struct ckpt_blob_protection *protections;
    uint64_t kept_count;
    uint64_t move_count;
    uint64_t map_count;
    const struct ckpt_range *lazy; /* registered with `lazy_faults` when all is in place */
    uint64_t protection_count;
    uint64_t lazy_count;
    uint64_t address_limit; /* end of user addresses */

    struct prctl_mm_map layout; /* exe_fd: the saved executable, or -1 */
    uint64_t thread_pointer;
    uint64_t resume_entry;
    uint64_t resume_stack; /* top, 16-byte aligned */
    struct ckpt_resume_info *info;
};

#endif
