/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freestanding.c - what the compiler and the files of libckpt in this program need of libc.
 * Context of all: freestanding.
 */
#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

void *memset(void *to, int byte, size_t size)
{
    unsigned char *at = to;

    for (size_t i = 0; i < size; i++) {
        at[i] = (unsigned char)byte;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    unsigned char *at = to;
    const unsigned char *source = from;

    for (size_t i = 0; i < size; i++) {
        at[i] = source[i];
    }
    return to;
}

size_t strlen(const char *text)
{
    return ckpt_text_length(text);
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

/* A shell goes on: the launcher needs it, and it does nothing that could do harm. */
int ckpt_invariant_failed(const char *file, int line, const char *condition)
{
    char text[300];
    const size_t length =
        ckpt_text_format(text, sizeof(text), "ckpt-shell: internal error: %s:%d: %s\n", file,
                         line, condition);

    (void)ckpt_sys_write(STDERR_FILENO, text, length);
    return 0;
}
