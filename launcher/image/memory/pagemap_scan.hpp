/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pagemap_scan.hpp - the ioctl PAGEMAP_SCAN of Linux 6.7 and later, which older headers do
 * not define.
 */
#pragma once

#include "image/model/page_ranges.hpp"

#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstdint>

namespace ckpt::pagemap
{

/* struct pm_scan_arg of linux/fs.h. */
struct ScanArgument {
    std::uint64_t size = sizeof(ScanArgument);
    std::uint64_t flags = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t walk_end = 0;
    std::uint64_t vec = 0;
    std::uint64_t vec_len = 0;
    std::uint64_t max_pages = 0;
    std::uint64_t category_inverted = 0;
    std::uint64_t category_mask = 0;
    std::uint64_t category_anyof_mask = 0;
    std::uint64_t return_mask = 0;
};

/* struct page_region. */
struct ScanRegion {
    std::uint64_t start;
    std::uint64_t end;
    std::uint64_t categories;
};

inline constexpr unsigned long scan_request = _IOWR('f', 16, ScanArgument);

/* A flag: write-protect the matching pages. */
inline constexpr std::uint64_t write_protect_matching = 1u << 0;

/* Categories. */
inline constexpr std::uint64_t watched = 1u << 0; /* by asynchronous protection */
inline constexpr std::uint64_t written = 1u << 1; /* not write-protected */
inline constexpr std::uint64_t file = 1u << 2;
inline constexpr std::uint64_t present = 1u << 3;
inline constexpr std::uint64_t swapped = 1u << 4;
inline constexpr std::uint64_t zero_page = 1u << 5;
inline constexpr std::uint64_t guard = 1u << 8; /* Linux 6.15 */

inline constexpr std::uint64_t basic = file | present | swapped | zero_page;

/* Returns which of `basic` and `guard` PAGEMAP_SCAN on this page map accepts; 0 if the
 * kernel does not have PAGEMAP_SCAN. */
inline std::uint64_t known_categories(int descriptor)
{
    for (std::uint64_t categories : {basic | guard, basic}) {
        ScanArgument argument;
        argument.category_mask = categories;
        argument.return_mask = categories;
        if (::ioctl(descriptor, scan_request, &argument) >= 0) {
            return categories;
        }
    }
    return 0;
}

/*
 * Appends the matching pages from argument.start to argument.end to `ranges`, by ascending
 * address. Returns 0 or an errno; after an error argument.start is the address where it
 * occurred.
 */
inline int scan(int descriptor, ScanArgument &argument, PageRanges &ranges)
{
    std::array<ScanRegion, 512> found;

    argument.vec = reinterpret_cast<std::uintptr_t>(found.data());
    argument.vec_len = found.size();
    while (argument.start < argument.end) {
        int count = ::ioctl(descriptor, scan_request, &argument);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return errno;
        }
        for (int i = 0; i < count; i++) {
            append_range(ranges, {found[i].start, found[i].end});
        }
        argument.start = argument.walk_end;
    }
    return 0;
}

} // namespace ckpt::pagemap
