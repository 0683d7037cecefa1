/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - the kernel's data about this process's memory besides the
 * mappings: program break, argument strings, auxiliary vector.
 */
#ifndef CKPT_LAYOUT_H
#define CKPT_LAYOUT_H

#include "base/arena.h"
#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/*
 * Fills *layout; copies the auxiliary vector into the arena. The strings to
 * which it and the kernel point stay on the saved stack. Requires
 * ckpt_regions_open(). Context: quiesced.
 * Returns 0 or -errno with the file of /proc in `failure`.
 */
int ckpt_process_layout_read(struct ckpt_arena *arena,
                             struct ckpt_process_layout *layout,
                             struct ckpt_failure *failure);

#endif
