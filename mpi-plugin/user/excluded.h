/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * excluded.h - memory of the application that need not be saved.
 */
#ifndef CKPT_EXCLUDED_H
#define CKPT_EXCLUDED_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* Maximum number of disjoint ranges. */
#define CKPT_EXCLUDED_CAPACITY 4096

/* Implement ckpt_exclude() and ckpt_include() (user/ckpt.h). Context:
 * normal. */
int ckpt_excluded_add(uint64_t start, uint64_t size);
int ckpt_excluded_remove(uint64_t start, uint64_t size);

/* Lists the ranges: whole pages, sorted by address, disjoint and not adjacent.
 * Returns their number. The list is consistent even if a parked thread is
 * changing it. Context: quiesced. */
size_t ckpt_excluded_ranges(const struct ckpt_range **ranges_p);

/* Returns the ranges as text: hexadecimal `start-end`, separated by spaces,
 * NUL-terminated. Context: quiesced. */
const char *ckpt_excluded_text(void);

#endif
