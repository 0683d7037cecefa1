/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mappings.h - list the mapped addresses of this process.
 */
#ifndef CKPT_MAPPINGS_H
#define CKPT_MAPPINGS_H

#include "ckpt/snapshot.h"

/*
 * Lists the mapped memory of this process in order of address, and merges all
 * adjacent mappings. Returns the count, -E2BIG if `capacity` is too small, or
 * -errno. Context: quiesced.
 */
int ckpt_mappings_read(struct ckpt_range *ranges, int capacity);

#endif
