/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rebuild.h - make the MPI objects again in a new lower half.
 */
#ifndef CKPT_REBUILD_H
#define CKPT_REBUILD_H

#include "ckpt/failure.h"

/* Makes all live objects again, in the order in which they depend on each other, and posts the
 * pending receives. Collective over MPI_COMM_WORLD. restore_files: brings the content of the open
 * MPI files back (cut/image/file_content.h). Context: quiesced. Returns 0 or -errno with a
 * reason. */
int ckpt_rebuild(int (*restore_files)(struct ckpt_failure *failure),
                 struct ckpt_failure *failure);

#endif
