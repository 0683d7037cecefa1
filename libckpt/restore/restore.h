/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restore.h - turns the calling process into a saved one.
 *
 * The restart program uses it. It first stages the saved memory at free addresses. Then it
 * places a freestanding blob in a hole that neither the old nor the new process uses. The blob
 * removes the restart program's own memory, moves the staged memory to its place and jumps into
 * the saved code.
 */
#ifndef CKPT_RESTORE_H
#define CKPT_RESTORE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

struct ckpt_restore;

/*
 * Checks that this host can run the snapshot (CPU features, address space) and prepares the
 * restore. Copies the snapshot, regions and strings. Returns 0 or -errno with the reason.
 * -EAGAIN: the kernel has placed this program so that new mappings would lie below the saved
 * stack; another execve() chooses other addresses. Context: normal, single-threaded.
 */
int ckpt_restore_open(const struct ckpt_snapshot *snapshot,
                      const struct ckpt_region *regions, const char *strings,
                      struct ckpt_restore **restore_p,
                      struct ckpt_failure *failure);

/*
 * Creates the staging memory of region `index`. Call it once per region. A region that is not
 * staged is restored with zeros or the mapped file's bytes.
 * content: 1 if the image holds the region's content: the memory is then
 *         writable and zeroed, also for file mappings. 0: it is read-only and
 *         holds zeros or the bytes of the file. The caller checks whether that
 *         is still the file that was mapped.
 * address_p: receives the staging address of the region's first byte.
 * Returns 0 or -errno with the region and file in `failure`. Context: normal.
 */
int ckpt_restore_stage(struct ckpt_restore *restore, size_t index, int content,
                       void **address_p, struct ckpt_failure *failure);

/*
 * As ckpt_restore_stage() for shared memory of a file (CKPT_REGION_SHARED with an inode), with
 * content: bytes written there go into the file. Descriptors must be in place.
 * address_p: receives NULL if the file is sealed and therefore has its content.
 * descriptor: of the file, if it has no name or is shared with other processes; or -1. A file
 *         with neither a name nor a descriptor is created, once for all its regions.
 * The memory may extend beyond the end of the file; do not touch it there.
 * Returns 0 or -errno with the region and file in `failure`. Context: normal.
 */
int ckpt_restore_stage_shared(struct ckpt_restore *restore, size_t index,
                              int descriptor, void **address_p,
                              struct ckpt_failure *failure);

/*
 * Leaves region `index`, which is private memory and not staged, to the page server: it is created
 * without content, and its pages come when they are touched (memory/lazy_pages.h).
 * Returns 0 or -EINVAL with the region in `failure`. Context: normal.
 */
int ckpt_restore_lazily(struct ckpt_restore *restore, size_t index, struct ckpt_failure *failure);

/*
 * Sets the page server of the lazy regions. The saved process gets both descriptors; they survive
 * ckpt_restore_commit(), and the caller keeps them until then.
 * faults: a userfaultfd of this process, which reports missing pages.
 * server: the rank's end of the connection with the page server.
 * Context: normal.
 */
void ckpt_restore_page_server(struct ckpt_restore *restore, int faults, int server);

/*
 * Makes sure that System V shared memory exists under the id of `inode` (CKPT_REGION_SYSTEM_V).
 * Creates it, or uses existing memory of the same key, size and owner if no process has
 * attached it. Call it once for all ranks of a node, before they stage it. path, mode, size: of
 * a region of it (size: its device). Returns 0 or -errno with the id in `failure`. Context:
 * normal.
 */
int ckpt_restore_make_system_v(const char *path, uint64_t inode, uint32_t mode,
                               uint64_t size, struct ckpt_failure *failure);

/* Closes the files of the shared regions, after the last one is staged. Context: normal. */
void ckpt_restore_close_shared_files(struct ckpt_restore *restore);

/*
 * Creates the memory of the image's message log, which resume() finds through struct
 * ckpt_resume_info. It is private and not part of the image. Call it at most once.
 * size: bytes, not 0.
 * address_p: receives its final address; zeroed, for the caller to fill.
 * Returns 0 or -errno with the size in `failure`. Context: normal.
 */
int ckpt_restore_message_log(struct ckpt_restore *restore, uint64_t size,
                             void **address_p, struct ckpt_failure *failure);

/*
 * Becomes the saved process; does not return on success. When it has begun to remove the
 * calling program, an error is written to standard error and ends the process with status 127.
 * Descriptors must be in place (ckpt_files_restore); no other thread may exist.
 * environment: the launcher's, copied into retained memory.
 * info: only checkpoint and restart_started are used.
 * Returns -errno with the reason. Context: normal, single-threaded.
 */
int ckpt_restore_commit(struct ckpt_restore *restore, char *const environment[],
                        const struct ckpt_resume_info *info,
                        struct ckpt_failure *failure);

/* Undoes open and stage. Context: normal. */
void ckpt_restore_close(struct ckpt_restore *restore);

#endif
