/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore_state.h - what staging (restore.c) and commit (commit.c) share.
 */
#ifndef CKPT_RESTORE_STATE_H
#define CKPT_RESTORE_STATE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"
#include "restore/space.h"

#include <stddef.h>

/* Where a region's memory is until it moves to its place; 0: not staged. */
struct ckpt_stage {
    uint64_t address;
    uint32_t protection; /* as mapped now */
};

/* This kernel's vDSO and its data pages, which only work as a group. */
struct ckpt_vdso_group {
    struct ckpt_range image;   /* [vdso] */
    struct ckpt_range parts[8]; /* all, in order of address */
    size_t part_count;         /* 0: this kernel offers no vDSO */
    int is_sealed;             /* it can be neither moved nor removed (mseal) */
};

/* A file that memory shares, until all of that memory is staged. */
struct ckpt_shared_file {
    uint64_t inode; /* at the checkpoint */
    const char *path;
    int fd;
    int has_size; /* the one it shall have */
};

struct ckpt_restore {
    struct ckpt_snapshot snapshot;
    struct ckpt_region *regions; /* in order of address */
    char *strings;
    struct ckpt_stage *stages; /* one per region */
    struct ckpt_shared_file *shared_files;
    size_t shared_file_count;
    uint64_t message_log; /* its address, or 0 */
    uint64_t message_log_size;
    struct ckpt_space space;
    struct ckpt_vdso_group vdso;
    /* Where the group would be if it took the saved vDSO's place; empty if
     * there is no saved vDSO. */
    struct ckpt_range vdso_home;
    /* Where this kernel's group goes, at the same distance from the saved vDSO
     * in each restart; empty if that is not free. */
    struct ckpt_range vdso_place;
};

/* The group's range, first part to last. */
struct ckpt_range ckpt_vdso_group_range(const struct ckpt_vdso_group *group);

/* 1 if a saved region overlaps `range`. */
int ckpt_restore_uses(const struct ckpt_restore *restore,
                      struct ckpt_range range);

/*
 * The staged bytes of [address, address + size) of the saved process, made
 * writable; NULL if they are not in one staged region with content.
 */
void *ckpt_restore_bytes(struct ckpt_restore *restore, uint64_t address,
                         uint64_t size);

/* Maps `size` private zeroed bytes where nothing else is or will be.
 * 0 or -errno with the size in `failure`. */
int ckpt_restore_map(struct ckpt_restore *restore, uint64_t size,
                     uint64_t *address_p, struct ckpt_failure *failure);

/* system_v.c: attaches what a region is of, and stages the region. 0 or -errno
 * with the reason. */
int ckpt_restore_stage_system_v(struct ckpt_restore *restore, size_t index,
                                struct ckpt_failure *failure);

/* mmap at a free address that is congruent to `congruent`: the address, or
 * -errno. */
int64_t ckpt_restore_map_somewhere(struct ckpt_restore *restore, uint64_t size,
                                   uint64_t congruent, int protection,
                                   int flags, int fd, uint64_t offset);

#endif
