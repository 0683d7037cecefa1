/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - what the kernel knows about this process's memory besides the
 * mappings: program break, argument strings, auxiliary vector.
 */
#ifndef CKPT_LAYOUT_H
#define CKPT_LAYOUT_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/*
 * Fills *layout; the copy of the auxiliary vector goes into the arena. The
 * strings it and the kernel point to stay on the saved stack.
 * Needs ckpt_regions_open() before. Context: quiesced.
 * Returns 0 or -errno with the file of /proc in `failure`.
 */
int ckpt_process_layout_read(struct ckpt_arena *arena,
                             struct ckpt_process_layout *layout,
                             struct ckpt_failure *failure);

#endif
