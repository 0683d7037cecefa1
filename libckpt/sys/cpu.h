/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu.h - which features this CPU and kernel offer, and whether they are
 * enough for code that already chose its instructions elsewhere.
 */
#ifndef CKPT_CPU_H
#define CKPT_CPU_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* Fills the words of ckpt_snapshot.cpu_features. Context: normal or quiesced,
 * with the thread pointer of the libc that this is linked with. */
void ckpt_cpu_read(uint32_t words[CKPT_CPU_FEATURE_WORDS]);

/*
 * Writes the names of the features that `recorded` has and `here` lacks into
 * text, separated by blanks and shortened to size bytes, NUL included.
 * Features that only the kernel uses do not count. Returns their number.
 * Context: any.
 */
int ckpt_cpu_missing(const uint32_t recorded[CKPT_CPU_FEATURE_WORDS],
                     const uint32_t here[CKPT_CPU_FEATURE_WORDS], char *text,
                     size_t size);

/*
 * The other way round, register state only: the components of `here` that a
 * program which measured `recorded` has no room for. glibc's lazy binding
 * saves all registers into a space whose size it computed at program start.
 * Same result as ckpt_cpu_missing(). Context: any.
 */
int ckpt_cpu_unexpected(const uint32_t recorded[CKPT_CPU_FEATURE_WORDS],
                        const uint32_t here[CKPT_CPU_FEATURE_WORDS], char *text,
                        size_t size);

#endif
