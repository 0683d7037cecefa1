/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * generator.h - data that a program generates, and later recognises.
 *
 * It comes from a counter-based generator, so that any code that has the key
 * can compute the expected data. Does not depend on MPI.
 */
#ifndef GENERATOR_H
#define GENERATOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A random-looking number that depends on `key` only (splitmix64). */
static inline uint64_t mix(uint64_t key)
{
    key += UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ (key >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    key = (key ^ (key >> 27)) * UINT64_C(0x94d049bb133111eb);
    return key ^ (key >> 31);
}

static inline uint64_t mix4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return mix(mix(mix(mix(a) + b) + c) + d);
}

/* Such a number as a fraction: at least 0, less than 1. */
static inline double fraction_of(uint64_t number)
{
    return (double)(number >> 11) * 0x1p-53;
}

/* Fills `size` bytes with the data that belongs to `key`. */
static inline void fill(void *buffer, size_t size, uint64_t key)
{
    unsigned char *bytes = (unsigned char *)buffer;
    size_t at = 0;

    for (; at < size; at += sizeof key) {
        size_t part = size - at < sizeof key ? size - at : sizeof key;

        key =
            key * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        memcpy(bytes + at, &key, part);
    }
}

/* Nonzero if `buffer` holds exactly what fill() would write there. */
static inline int is_filled(const void *buffer, size_t size, uint64_t key)
{
    const unsigned char *bytes = (const unsigned char *)buffer;
    size_t at = 0;

    for (; at < size; at += sizeof key) {
        size_t part = size - at < sizeof key ? size - at : sizeof key;

        key =
            key * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (memcmp(bytes + at, &key, part) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Adds `size` bytes to a checksum (FNV-1a over the bytes). */
static inline uint64_t checksum(uint64_t sum, const void *buffer, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)buffer;
    size_t at = 0;

    for (; at < size; at++) {
        sum = (sum ^ bytes[at]) * UINT64_C(1099511628211);
    }
    return sum;
}

/* Argument `index` as a number, or `otherwise` if there is none. */
static inline long number_argument(int argc, char **argv, int index,
                                   long otherwise)
{
    return index < argc ? strtol(argv[index], NULL, 10) : otherwise;
}

#endif
