/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protection.c - makes the agent save write-protected pages of this process.
 *
 * The page map reports a write-protected page as not written. In a mapping without a watcher it
 * reports all pages as written.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "memory/protection.h"

#include "base/invariant.h"
#include "ckpt/snapshot.h"
#include "memory/page_scan.h"
#include "sys/syscall.h"

#include <fcntl.h>
#include <stdint.h>

#define PAGE UINT64_C(4096)

/* From linux/mman.h, since Linux 5.14. */
#define ADVICE_POPULATE_WRITE 23

/* Makes the kernel act as if a thread wrote to the pages. So this thread waits until the agent
 * allows the write. */
static void pretend_to_write(const struct ckpt_scan_region *pages)
{
    CKPT_INVARIANT(pages->start % PAGE == 0 && pages->start < pages->end);
    (void)ckpt_sys_madvise((void *)(uintptr_t)pages->start, pages->end - pages->start,
                           ADVICE_POPULATE_WRITE);
}

static void save_found(int page_map, uint64_t start, uint64_t end)
{
    struct ckpt_scan_region found[16];
    struct ckpt_scan_argument scan = {
        .size = sizeof(scan),
        .start = start,
        .end = end,
        .found = (uint64_t)(uintptr_t)found,
        .found_size = sizeof(found) / sizeof(found[0]),
        .inverted = CKPT_SCAN_WRITTEN,
        .all_of = CKPT_SCAN_WRITTEN,
        .any_of = CKPT_SCAN_PRESENT | CKPT_SCAN_SWAPPED,
        .wanted = CKPT_SCAN_PRESENT,
    };

    while (scan.start < scan.end) {
        long count = ckpt_sys_ioctl(page_map, CKPT_SCAN_REQUEST, &scan);
        if (count < 0) {
            return;
        }
        CKPT_INVARIANT(count <= (long)scan.found_size);
        for (long i = 0; i < count; i++) {
            CKPT_INVARIANT(found[i].start >= start && found[i].end <= end);
            pretend_to_write(&found[i]);
        }
        if (!CKPT_INVARIANT(scan.walk_end > scan.start)) { /* otherwise this would never end */
            return;
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
