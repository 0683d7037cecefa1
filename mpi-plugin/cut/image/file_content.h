/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_content.h - the bytes of open MPI files, as they are at the cut.
 *
 * The application may change a writable file anywhere after the checkpoint, so
 * all its bytes go into the image. The ranks that share the file save its
 * blocks in turn, so each byte is saved once. That holds whatever size each
 * rank sees. The share is in the rank's memory, as a private mapping of an
 * unnamed file beside the saved one. So it takes space on disk but none in
 * memory. Where that is not possible the share is anonymous memory.
 */
#ifndef CKPT_FILE_CONTENT_H
#define CKPT_FILE_CONTENT_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/*
 * Flushes this node's writes to the file, so that other nodes see them. Called
 * before all ranks stand still, so that each rank reads what all have written.
 * Returns 0 or -errno with a reason. Context: quiesced.
 */
int ckpt_file_content_flush(struct ckpt_failure *failure);

/* Copies this rank's shares. Called before the memory regions are listed.
 * Returns 0 or -errno with a reason. Context: quiesced. */
int ckpt_file_content_save(struct ckpt_failure *failure);

/* Marks those regions of a process image that are shares: nobody changes the unnamed files behind
 * them. regions: by ascending address. Context: quiesced. */
void ckpt_file_content_mark(struct ckpt_region *regions, size_t count);

/* Frees the memory of the shares. Context: any. */
void ckpt_file_content_release(void);

/*
 * Writes this rank's shares back, whether or not the files still exist, and
 * checks the files that were open for reading. The caller sets the files' sizes
 * when all ranks have done this. Returns 0 or -errno with a reason. Context:
 * quiesced.
 */
int ckpt_file_content_restore(struct ckpt_failure *failure);

#endif
