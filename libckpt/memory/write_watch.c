/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_watch.c - asynchronous write protection of this process's own memory.
 */
#include "memory/write_watch.h"

#include "base/invariant.h"
#include "memory/page_scan.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/syscall.h>

#define PAGE UINT64_C(4096)

/* From linux/userfaultfd.h, since Linux 5.19, 6.7 and 5.11. */
#define FEATURE_WP_SHARED (UINT64_C(1) << 12)
#define FEATURE_WP_ASYNC  (UINT64_C(1) << 15)
#define USER_MODE_ONLY    1

int ckpt_write_watch_open(struct ckpt_write_watch *watch)
{
    struct uffdio_api api = {
        .api = UFFD_API,
        .features = FEATURE_WP_ASYNC | FEATURE_WP_SHARED | UFFD_FEATURE_PAGEFAULT_FLAG_WP,
    };
    long error;

    /* No fault is ever reported, so the user-mode restriction rejects none of the kernel's
     * writes. */
    watch->page_map = -1;
    watch->descriptor = (int)ckpt_syscall3(SYS_userfaultfd,
                                           O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY, 0, 0);
    if (watch->descriptor < 0) {
        return watch->descriptor;
    }
    error = ckpt_sys_ioctl(watch->descriptor, UFFDIO_API, &api);
    if (error == 0) {
        watch->page_map = (int)ckpt_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
        error = watch->page_map < 0 ? watch->page_map : 0;
    }
    if (error != 0) {
        ckpt_write_watch_close(watch);
    }
    return (int)error;
}

void ckpt_write_watch_close(struct ckpt_write_watch *watch)
{
    if (watch->page_map >= 0) {
        ckpt_sys_close(watch->page_map);
    }
    if (watch->descriptor >= 0) {
        ckpt_sys_close(watch->descriptor);
    }
    watch->page_map = watch->descriptor = -1;
}

/* UFFDIO_WRITEPROTECT also covers pages that this process has not touched yet. */
int ckpt_write_watch_begin(const struct ckpt_write_watch *watch, void *start, size_t size)
{
    const struct uffdio_range range = {(uint64_t)(uintptr_t)start, size};
    struct uffdio_register registration = {.range = range,
                                           .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protection = {.range = range,
                                             .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    long error = ckpt_sys_ioctl(watch->descriptor, UFFDIO_REGISTER, &registration);

    CKPT_INVARIANT(range.start % PAGE == 0 && size % PAGE == 0);
    if (error == 0) {
        error = ckpt_sys_ioctl(watch->descriptor, UFFDIO_WRITEPROTECT, &protection);
    }
    return (int)error;
}

static void mark(const struct ckpt_scan_region *found, long count, uint64_t start,
                 uint8_t *written)
{
    for (long i = 0; i < count; i++) {
        CKPT_INVARIANT(found[i].start >= start && found[i].start < found[i].end);
        for (uint64_t at = found[i].start; at < found[i].end; at += PAGE) {
            written[(at - start) / PAGE] = 1;
        }
    }
}

/* With exactly these masks the kernel also reports written pages that are no longer in the page
 * table because memory is short. */
int ckpt_write_watch_look(const struct ckpt_write_watch *watch, const void *start,
                          size_t size, uint8_t *written)
{
    const uint64_t first = (uint64_t)(uintptr_t)start;
    struct ckpt_scan_region found[64];
    struct ckpt_scan_argument scan = {
        .size = sizeof(scan),
        .flags = CKPT_SCAN_PROTECT | CKPT_SCAN_ALL_WATCHED,
        .start = first,
        .end = first + size,
        .found = (uint64_t)(uintptr_t)found,
        .found_size = sizeof(found) / sizeof(found[0]),
        .all_of = CKPT_SCAN_WRITTEN,
        .wanted = CKPT_SCAN_WRITTEN,
    };

    CKPT_INVARIANT(first % PAGE == 0 && size % PAGE == 0); /* written[] has an entry for each */
    while (scan.start < scan.end) {
        const long count = ckpt_sys_ioctl(watch->page_map, CKPT_SCAN_REQUEST, &scan);

        if (count < 0) {
            return (int)count;
        }
        if (!CKPT_INVARIANT(count <= (long)scan.found_size &&
                            (count == 0 || found[count - 1].end <= scan.end))) {
            return -EPROTO;
        }
        mark(found, count, first, written);
        if (!CKPT_INVARIANT(scan.walk_end > scan.start)) { /* otherwise this would never end */
            return -EPROTO;
        }
        scan.start = scan.walk_end;
    }
    return 0;
}
