/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions.h - find and classify the memory regions of this process.
 */
#ifndef CKPT_REGIONS_H
#define CKPT_REGIONS_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

struct ckpt_arena;

/*
 * Reads /proc/self/maps and lists what has to be saved: everything but the
 * `excluded` ranges (the lower half, our rank page), [vvar*], [vsyscall] and a
 * vDSO other than the one this process was started with.
 * arena: storage of the list and of its strings; string offsets are relative
 *        to the arena's string table (ckpt_arena_string).
 * A private mapping of a file that was deleted or replaced is a FILE region
 * with device 0: only its content in memory can be saved.
 * The list is in order of address, and behind it is room for as many regions
 * more as there are excluded ranges. It describes this moment: nothing may be
 * mapped between the scan and the capture.
 * Returns 0; -ENOTSUP with the mapping's name in `failure` for one that cannot
 * be saved (device).
 * Context: quiesced.
 */
int ckpt_regions_scan(struct ckpt_arena *arena,
                      const struct ckpt_range *excluded, size_t excluded_count,
                      struct ckpt_region **regions_p,
                      size_t *count_p, struct ckpt_failure *failure);

/* Remembers where the kernel put this process's vDSO and stack. Call once,
 * before the first scan, in the original process only. Context: normal. */
void ckpt_regions_open(void);

/* The vDSO that the code of this process points into, as ckpt_regions_open()
 * found it, also after a restart; empty if there is none. Context: any. */
struct ckpt_range ckpt_regions_vdso(void);

#endif
