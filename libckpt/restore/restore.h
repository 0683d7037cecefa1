/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore.h - turn the calling process into a saved one.
 *
 * Used by the restart program. Saved memory is first staged wherever there is
 * room; then a freestanding blob, placed in a hole that neither the old nor
 * the new process uses, removes the restart program's own memory, moves the
 * staged memory to its place and jumps into the saved code.
 */
#ifndef CKPT_RESTORE_H
#define CKPT_RESTORE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

struct ckpt_restore;

/*
 * Checks that this host can run the snapshot (CPU features, address space) and
 * prepares. The snapshot, regions and strings are copied.
 * -EAGAIN: the kernel happened to put this program where new mappings would
 * come to lie under the saved stack; another execve() chooses other addresses.
 * Context: normal, single-threaded. 0 or -errno with the reason.
 */
int ckpt_restore_open(const struct ckpt_snapshot *snapshot,
                      const struct ckpt_region *regions, const char *strings,
                      struct ckpt_restore **restore_p,
                      struct ckpt_failure *failure);

/*
 * Makes the staging memory of region `index`. Once per region; a region that
 * is not staged comes back as zeros or as the mapped file's bytes.
 * content: 1 if the image holds the region's content: the memory is then
 *     writable and zeroed, for file mappings too. 0: it is read-only and holds
 *     zeros or the bytes of the file (whether that still is the file that was
 *     mapped is for the caller to check).
 * address_p: where byte `start` of the region is staged.
 * Returns 0 or -errno with the region and file in `failure`. Context: normal.
 */
int ckpt_restore_stage(struct ckpt_restore *restore, size_t index, int content,
                       void **address_p, struct ckpt_failure *failure);

/*
 * The same for shared memory of a file (CKPT_REGION_SHARED with an inode), with
 * content: what is put there, the file gets. Descriptors have to be in place.
 * address_p: NULL if the file is sealed and therefore has its content.
 * descriptor: one that leads to the file if it has no name or is shared with
 *     other processes, or -1. Without either a new file is made, one for all
 *     regions of it.
 * The memory may reach beyond the end of the file, and is then not to be touched
 * there.
 * Returns 0 or -errno with the region and file in `failure`. Context: normal.
 */
int ckpt_restore_stage_shared(struct ckpt_restore *restore, size_t index,
                              int descriptor, void **address_p,
                              struct ckpt_failure *failure);

/*
 * Sees to it that there is System V shared memory under the id of `inode`
 * (CKPT_REGION_SYSTEM_V): made again, or what is there of the same key, size
 * and owner if nobody has attached it. Once for all ranks of a node, before
 * they stage it. path, mode, size: of a region of it (size: its device).
 * Returns 0 or -errno with the id in `failure`. Context: normal.
 */
int ckpt_restore_make_system_v(const char *path, uint64_t inode, uint32_t mode,
                               uint64_t size, struct ckpt_failure *failure);

/* After the last of them: closes the files. Context: normal. */
void ckpt_restore_close_shared_files(struct ckpt_restore *restore);

/*
 * Makes the memory of the image's message log, which resume() finds by its
 * struct ckpt_resume_info: private, no part of the image. At most once.
 * size: bytes, not 0.
 * address_p: where it is and stays, zeroed, for the caller to fill.
 * Returns 0 or -errno with the size in `failure`. Context: normal.
 */
int ckpt_restore_message_log(struct ckpt_restore *restore, uint64_t size,
                             void **address_p, struct ckpt_failure *failure);

/*
 * Becomes the saved process: never returns on success. Once it has begun to
 * remove the calling program, an error is written to standard error and ends
 * the process with status 127. Descriptors have to be in place
 * (ckpt_files_restore); no other thread may exist.
 * environment: the launcher's, copied into retained memory.
 * info: checkpoint and restart_started are taken from it.
 * Returns -errno with the reason. Context: normal, single-threaded.
 */
int ckpt_restore_commit(struct ckpt_restore *restore, char *const environment[],
                        const struct ckpt_resume_info *info,
                        struct ckpt_failure *failure);

/* Undoes open and stage. Context: normal. */
void ckpt_restore_close(struct ckpt_restore *restore);

#endif
