/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu.h - the features of this CPU and kernel, and whether they suffice for
 * code that chose its instructions on another host.
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
 * text, separated by blanks and truncated to size bytes, NUL included. Ignores
 * features that only the kernel uses. Returns their number. Context: any.
 */
int ckpt_cpu_missing(const uint32_t recorded[CKPT_CPU_FEATURE_WORDS],
                     const uint32_t here[CKPT_CPU_FEATURE_WORDS], char *text,
                     size_t size);

/*
 * The reverse, for register state only: the components of `here` for which a
 * program that measured `recorded` has no room. glibc's lazy binding saves all
 * registers into a buffer whose size it computed at program start. Result as in
 * ckpt_cpu_missing(). Context: any.
 */
int ckpt_cpu_unexpected(const uint32_t recorded[CKPT_CPU_FEATURE_WORDS],
                        const uint32_t here[CKPT_CPU_FEATURE_WORDS], char *text,
                        size_t size);

/* For functions that run before the vector registers are saved. */
#define CKPT_GENERAL_REGISTERS __attribute__((target("general-regs-only")))

#endif
