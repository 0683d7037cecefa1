/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checksum.c - CRC-32C, with the SSE4.2 instruction if available, otherwise bit
 * by bit.
 */
#include "journal/log/checksum.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* 0x1edc6f41, bits reversed */

__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t state, const unsigned char *bytes, size_t size)
{
    uint64_t wide = state, word;

    for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        wide = __builtin_ia32_crc32di(wide, word);
    }
    state = (uint32_t)wide;
    for (; size > 0; size--) {
        state = __builtin_ia32_crc32qi(state, *bytes++);
    }
    return state;
}

static uint32_t by_bits(uint32_t state, const unsigned char *bytes, size_t size)
{
    for (; size > 0; size--) {
        state ^= *bytes++;
        for (int bit = 0; bit < 8; bit++) {
            state = state >> 1 ^ (POLYNOMIAL & -(state & 1));
        }
    }
    return state;
}

uint32_t ckpt_checksum(uint32_t state, const void *bytes, size_t size)
{
    static int has_instruction = -1;

    if (has_instruction < 0) {
        has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    }
    return has_instruction ? by_instruction(state, bytes, size)
                           : by_bits(state, bytes, size);
}
