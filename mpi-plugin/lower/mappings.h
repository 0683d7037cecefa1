/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mappings.h - which addresses of this process are mapped.
 */
#ifndef CKPT_MAPPINGS_H
#define CKPT_MAPPINGS_H

#include "ckpt/snapshot.h"

/*
 * Lists the mapped memory of this process in order of address; neighbours are
 * merged, whatever they are. Returns the count, -E2BIG if `capacity` is too
 * small, or -errno. Context: quiesced.
 */
int ckpt_mappings_read(struct ckpt_range *ranges, int capacity);

#endif
