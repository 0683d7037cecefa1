/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * raw_image.h - the simplest possible image, for the test programs
 * restore_subject (writes it) and restore_loader (reads it).
 *
 * struct raw_header | regions | files | strings | struct raw_page ...
 *
 * Also the message log of a test: message number i consists of i * 1000 bytes
 * with value i.
 */
#ifndef CKPT_TESTS_RAW_IMAGE_H
#define CKPT_TESTS_RAW_IMAGE_H

#include "ckpt/snapshot.h"

#define RAW_PAGE_SIZE 4096u

struct raw_header {
    struct ckpt_snapshot snapshot;
    uint64_t page_count;
};

struct raw_page {
    uint64_t region; /* index */
    uint64_t address;
    unsigned char bytes[RAW_PAGE_SIZE];
} __attribute__((packed)); /* strings before it may be of any length */

#endif
