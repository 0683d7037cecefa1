/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore_state.h - state shared by staging (restore.c) and commit (commit.c).
 */
#ifndef CKPT_RESTORE_STATE_H
#define CKPT_RESTORE_STATE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"
#include "process/vdso_group.h"
#include "restore/space.h"

#include <stddef.h>

/* The staging memory of a region, until it moves to its place; 0: not
 * staged. */
struct ckpt_stage {
    uint64_t address;
    uint32_t protection; /* present protection */
    uint32_t is_lazy;    /* 1: not staged; the page server fills it later */
};

/* A file of shared memory, open until all that memory is staged. */
struct ckpt_shared_file {
    uint64_t inode; /* inode number at the checkpoint */
    const char *path;
    int fd;
    int has_size; /* 1: the file already has its final size */
};

struct ckpt_restore {
    struct ckpt_snapshot snapshot;
    struct ckpt_region *regions; /* in order of address */
    char *strings;
    struct ckpt_stage *stages; /* one per region */
    struct ckpt_shared_file *shared_files;
    size_t shared_file_count;
    int lazy_faults;      /* userfaultfd, or -1 if no region is lazy */
    int page_server;      /* socket */
    uint64_t message_log; /* address, or 0 */
    uint64_t message_log_size;
    struct ckpt_space space;
    struct ckpt_vdso_group vdso;
    /* The group's range if its vDSO were at the saved vDSO's address; empty
     * without a saved vDSO. */
    struct ckpt_range vdso_home;
    /* The range for this kernel's group, at the same distance from the saved
     * vDSO in each restart; empty if it is not free. */
    struct ckpt_range vdso_place;
};

/* Returns 1 if a saved region overlaps `range`. */
int ckpt_restore_uses(const struct ckpt_restore *restore,
                      struct ckpt_range range);

/*
 * Returns the staged bytes of [address, address + size) of the saved process,
 * writable; NULL unless they lie in one staged region with content.
 */
void *ckpt_restore_bytes(struct ckpt_restore *restore, uint64_t address,
                         uint64_t size);

/* Maps `size` private zeroed bytes in a range that neither process uses.
 * Returns 0 or -errno with the size in `failure`. */
int ckpt_restore_map(struct ckpt_restore *restore, uint64_t size,
                     uint64_t *address_p, struct ckpt_failure *failure);

/* system_v.c: attaches the shared memory of a region, and stages the region.
 * Returns 0 or -errno with the reason. */
int ckpt_restore_stage_system_v(struct ckpt_restore *restore, size_t index,
                                struct ckpt_failure *failure);

/* Maps memory at a free address that is congruent to `congruent` modulo 2 MiB.
 * Returns the address, or -errno. */
int64_t ckpt_restore_map_somewhere(struct ckpt_restore *restore, uint64_t size,
                                   uint64_t congruent, int protection,
                                   int flags, int fd, uint64_t offset);

#endif
