/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - strings and numbers in code that may not use libc.
 *
 * Context of all functions: any; they call no other function and allocate
 * nothing.
 */
#ifndef CKPT_TEXT_H
#define CKPT_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes before the NUL. */
size_t ckpt_text_length(const char *text);

/* 1 if equal, else 0. */
int ckpt_text_equal(const char *a, const char *b);

/* 1 if `text` begins with `prefix`, else 0. */
int ckpt_text_starts(const char *text, const char *prefix);

/* 1 if `text` ends with `suffix`, else 0. */
int ckpt_text_ends(const char *text, const char *suffix);

/* FNV-1a, 64 bits. */
uint64_t ckpt_text_hash(const char *text);

/* Suffix that the kernel appends to the path of a deleted file. */
#define CKPT_TEXT_DELETED " (deleted)"

/* Copies as much as fits in `capacity` bytes, the NUL included; capacity > 0.
 * Returns the number of bytes copied, without the NUL. */
size_t ckpt_text_copy(char *to, size_t capacity, const char *from);

/* Parse an unsigned number without sign, space or prefix. Return a pointer to
 * the character after it. Return NULL if the text has no digit or the number
 * exceeds 64 bits; *value_p is then not set. */
const char *ckpt_text_decimal(const char *text, uint64_t *value_p);
const char *ckpt_text_hexadecimal(const char *text, uint64_t *value_p);

/*
 * Formats into `capacity` bytes (capacity > 0), truncated if necessary, always
 * NUL-terminated. Conversions, without width or precision: %s (NULL: "(null)"),
 * %d (int), %u (unsigned), %l (long), %x (unsigned long, hexadecimal digits
 * only), %%. Returns the number of bytes written, without the NUL.
 */
size_t ckpt_text_format(char *buffer, size_t capacity, const char *format, ...);
size_t ckpt_text_vformat(char *buffer, size_t capacity, const char *format,
                         va_list arguments);

#endif
