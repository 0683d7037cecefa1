/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protection.c - has write-protected pages of this process saved.
 *
 * To the page map a page that is write-protected has not been written to; all pages of a
 * mapping that nobody watches have been.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "memory/protection.h"

#include "ckpt/snapshot.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>

#define PAGE UINT64_C(4096)

/* From linux/fs.h of Linux 6.7 and later. */
struct scan_argument {
    uint64_t size, flags, start, end, walk_end, found, found_size, most_pages;
    uint64_t inverted, all_of, any_of, wanted;
};

struct scan_region {
    uint64_t start, end, categories;
};

#define SCAN_REQUEST _IOWR('f', 16, struct scan_argument)
#define SCAN_WRITTEN (UINT64_C(1) << 1)
#define SCAN_PRESENT (UINT64_C(1) << 3)
#define SCAN_SWAPPED (UINT64_C(1) << 4)

/* From linux/mman.h of Linux 5.14 and later. */
#define ADVICE_POPULATE_WRITE 23

/* The kernel acts as if somebody wrote there; so we wait until that is allowed. */
static void pretend_to_write(const struct scan_region *pages)
{
    (void)ckpt_sys_madvise((void *)(uintptr_t)pages->start, pages->end - pages->start,
                           ADVICE_POPULATE_WRITE);
}

static void save_found(int page_map, uint64_t start, uint64_t end)
{
    struct scan_region found[16];
    struct scan_argument scan = {
        .size = sizeof(scan),
        .start = start,
        .end = end,
        .found = (uint64_t)(uintptr_t)found,
        .found_size = sizeof(found) / sizeof(found[0]),
        .inverted = SCAN_WRITTEN,
        .all_of = SCAN_WRITTEN,
        .any_of = SCAN_PRESENT | SCAN_SWAPPED,
        .wanted = SCAN_PRESENT,
    };

    while (scan.start < scan.end) {
        long count = ckpt_sys_ioctl(page_map, SCAN_REQUEST, &scan);
        if (count < 0) {
            return;
        }
        for (long i = 0; i < count; i++) {
            pretend_to_write(&found[i]);
        }
        scan.start = scan.walk_end;
    }
}

void ckpt_protection_save(const void *start, size_t size)
{
    const uint64_t from = (uint64_t)(uintptr_t)start & ~(PAGE - 1);
    const uint64_t to = ((uint64_t)(uintptr_t)start + size + PAGE - 1) & ~(PAGE - 1);
    long page_map;

    if (to <= from) {
        return;
    }
    page_map = ckpt_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    if (page_map >= 0) {
        save_found((int)page_map, from, to);
        ckpt_sys_close((int)page_map);
    }
}
