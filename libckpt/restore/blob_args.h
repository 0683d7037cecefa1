/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blob_args.h - the one structure that crosses from the restart program into
 * the freestanding blob: a plan without decisions, in the order it is done.
 */
#ifndef CKPT_BLOB_ARGS_H
#define CKPT_BLOB_ARGS_H

#include "ckpt/snapshot.h"

#include <linux/prctl.h>
#include <stdint.h>

/* Existing memory that goes to another address. */
struct ckpt_blob_move {
    uint64_t from;
    uint64_t to;
    uint64_t size;
};

/* Memory to be made at its final address. */
struct ckpt_blob_map {
    uint64_t start;
    uint64_t size;
    uint64_t protection; /* PROT_*; writable if there is a source */
    uint64_t flags;      /* MAP_* */
    uint64_t source;     /* staged bytes to copy into it, or 0 */
};

/* The last step on a region: the protection the saved code knows. */
struct ckpt_blob_protection {
    uint64_t start;
    uint64_t size;
    uint64_t protection; /* PROT_* */
};

/* Everything lives in the blob's own area, which nothing else overlaps. */
struct ckpt_blob_args {
    /* What survives the removal of the restart program: sorted, disjoint. */
    const struct ckpt_range *kept;
    const struct ckpt_blob_move *moves; /* in this order: vDSO group first */
    const struct ckpt_blob_map *maps;
    const struct ckpt_blob_protection *protections;
    uint64_t kept_count;
    uint64_t move_count;
    uint64_t map_count;
    uint64_t protection_count;
    uint64_t address_limit; /* end of user addresses */

    struct prctl_mm_map layout; /* exe_fd: the saved executable, or -1 */
    uint64_t thread_pointer;
    uint64_t resume_entry;
    uint64_t resume_stack; /* top, 16-byte aligned */
    struct ckpt_resume_info *info;
};

#endif
