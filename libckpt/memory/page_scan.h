/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_scan.h - the ioctl PAGEMAP_SCAN on a page map, from Linux 6.7 on; older headers lack it.
 */
#ifndef CKPT_PAGE_SCAN_H
#define CKPT_PAGE_SCAN_H

#include <stdint.h>
#include <sys/ioctl.h>

/* struct pm_scan_arg of linux/fs.h. */
struct ckpt_scan_argument {
    uint64_t size, flags, start, end, walk_end, found, found_size, most_pages;
    uint64_t inverted, all_of, any_of, wanted;
};

/* struct page_region. */
struct ckpt_scan_region {
    uint64_t start, end, categories;
};

#define CKPT_SCAN_REQUEST _IOWR('f', 16, struct ckpt_scan_argument)

/* Flag: write-protect the matching pages. */
#define CKPT_SCAN_PROTECT (UINT64_C(1) << 0)
/* Flag: fail with -EPERM if memory is not watched. */
#define CKPT_SCAN_ALL_WATCHED (UINT64_C(1) << 1)

/* Categories of pages. */
#define CKPT_SCAN_WATCHED (UINT64_C(1) << 0) /* watched by asynchronous write protection */
#define CKPT_SCAN_WRITTEN (UINT64_C(1) << 1) /* not write-protected */
#define CKPT_SCAN_PRESENT (UINT64_C(1) << 3)
#define CKPT_SCAN_SWAPPED (UINT64_C(1) << 4)

#endif
