/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * undescribed.h - leaves a process the memory that it has described, as a restart does.
 */
#ifndef CKPT_UNDESCRIBED_H
#define CKPT_UNDESCRIBED_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

#include <stddef.h>

/*
 * Reads /proc/self/maps into buffer[0 .. size), with a NUL. Returns 0 or -errno with the reason.
 * Context: quiesced, with one thread.
 */
int ckpt_mappings_list(char *buffer, size_t size, struct ckpt_failure *failure);

/*
 * Makes the memory of this process what a restart from the snapshot would make it:
 *
 *   - unmaps what no region of the snapshot describes;
 *   - makes described private memory private that is mapped as shared, with its present bytes;
 *   - discards the bytes that the program has excluded.
 *
 * Memory of the kernel (the vDSO) stays, as long as no region describes it.
 * list: of the mappings, from ckpt_mappings_list(); it is changed.
 * Memory that is not in the list stays, too.
 * kept: stays as well. The regions are in order and do not overlap (cut/image/process_image.c).
 * Returns 0 or -errno with the address in `failure`. Context: quiesced, with one thread.
 */
int ckpt_undescribed_remove(const struct ckpt_snapshot *snapshot, char *list,
                            struct ckpt_range kept, struct ckpt_failure *failure);

#endif
