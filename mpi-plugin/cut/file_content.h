/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_content.h - the bytes of open MPI files, as they are at the cut.
 *
 * A writable file may be changed anywhere after the checkpoint, so all its
 * bytes go into the image. The ranks that share it save it in blocks, turn by
 * turn: each byte once, whatever size each of them sees. The share lies in the
 * rank's memory, as a private mapping of an unnamed file beside the saved one,
 * so that it needs room on disk and none in memory; anonymous memory where that
 * is not possible.
 */
#ifndef CKPT_FILE_CONTENT_H
#define CKPT_FILE_CONTENT_H

#include "ckpt/failure.h"

/*
 * Has what this node has written reach the file, where other nodes see it.
 * Before all ranks stand still, so that what one reads is what all wrote.
 * Returns 0 or -errno with a reason. Context: quiesced.
 */
int ckpt_file_content_flush(struct ckpt_failure *failure);

/* Copies this rank's shares; before the memory regions are listed. Returns 0 or
 * -errno with a reason. Context: quiesced. */
int ckpt_file_content_save(struct ckpt_failure *failure);

/* Gives the shares' memory back. Context: any. */
void ckpt_file_content_release(void);

/*
 * Writes this rank's shares back, whether or not the files still exist, and
 * checks those that were open for reading. Their sizes are set by the caller,
 * when all ranks have done this. Returns 0 or -errno with a reason. Context:
 * quiesced.
 */
int ckpt_file_content_restore(struct ckpt_failure *failure);

#endif
