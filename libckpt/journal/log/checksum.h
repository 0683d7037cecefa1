/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum.h - CRC-32C (Castagnoli) for code that may not use a library.
 *
 * RFC 3720, appendix B.4. Context: any.
 */
#ifndef CKPT_JOURNAL_CHECKSUM_H
#define CKPT_JOURNAL_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CKPT_CHECKSUM_START 0xffffffffu

/* Returns the state after `size` more bytes; the checksum is the complement of
 * the last state. */
uint32_t ckpt_checksum(uint32_t state, const void *bytes, size_t size);

#endif
