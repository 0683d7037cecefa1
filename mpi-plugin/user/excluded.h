/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * excluded.h - memory of the application that need not be saved.
 */
#ifndef CKPT_EXCLUDED_H
#define CKPT_EXCLUDED_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* Ranges that can be told apart. */
#define CKPT_EXCLUDED_CAPACITY 4096

/* As ckpt_exclude() and ckpt_include() (user/ckpt.h). Context: normal. */
int ckpt_excluded_add(uint64_t start, uint64_t size);
int ckpt_excluded_remove(uint64_t start, uint64_t size);

/* The ranges, of whole pages, by rising address, which neither overlap nor touch.
 * Returns how many. Whole also while a thread that is parked changes them. Context:
 * quiesced. */
size_t ckpt_excluded_ranges(const struct ckpt_range **ranges_p);

/* As text: hexadecimal `start-end`, with spaces between them; NUL-terminated.
 * Context: quiesced. */
const char *ckpt_excluded_text(void);

#endif
