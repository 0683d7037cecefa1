/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions.h - finds and classifies the memory regions of this process.
 */
#ifndef CKPT_REGIONS_H
#define CKPT_REGIONS_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

struct ckpt_arena;

/*
 * Reads /proc/self/maps and lists the memory to save: everything except the
 * `excluded` ranges (the lower half, our rank page), [vvar*], [vsyscall] and a
 * vDSO other than that of the process's start.
 * arena: storage of the list and of its strings; string offsets are relative
 *        to the arena's string table (ckpt_arena_string).
 * A private mapping of a file that was deleted or replaced is a FILE region
 * with device 0: only its content in memory can be saved. The list is ordered
 * by address. After it the array has room for as many more regions as there are
 * excluded ranges. The list describes the present moment: the process must map
 * nothing between the scan and the capture.
 * Returns 0; -ENOTSUP with the mapping's name in `failure` if a mapping (of a
 * device) cannot be saved.
 * Context: quiesced.
 */
int ckpt_regions_scan(struct ckpt_arena *arena,
                      const struct ckpt_range *excluded, size_t excluded_count,
                      struct ckpt_region **regions_p,
                      size_t *count_p, struct ckpt_failure *failure);

/* Records the addresses of this process's vDSO and stack. Call once, before the
 * first scan, in the original process only. Context: normal. */
void ckpt_regions_open(void);

/* Returns the vDSO that the code of this process points into, as
 * ckpt_regions_open() found it, also after a restart. Empty if the process has
 * none. Context: any. */
struct ckpt_range ckpt_regions_vdso(void);

#endif
