/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_ranges.cpp - operations on sets of addresses.
 */
#include "config.h"
#include "image/model/page_ranges.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <iterator>

namespace ckpt
{

void append_range(PageRanges &ranges, const ckpt_range &range)
{
    if (range.start >= range.end) {
        return;
    }
    CKPT_EXPECT(ranges.empty() || ranges.back().start <= range.start); /* ascending */
    if (!ranges.empty() && ranges.back().end >= range.start) {
        ranges.back().end = std::max(ranges.back().end, range.end);
    } else {
        ranges.push_back(range);
    }
}

PageRanges unite(const PageRanges &left, const PageRanges &right)
{
    CKPT_EXPECT(std::ranges::is_sorted(left, {}, &ckpt_range::start));
    CKPT_EXPECT(std::ranges::is_sorted(right, {}, &ckpt_range::start));
    PageRanges sorted, united;
    std::ranges::merge(left, right, std::back_inserter(sorted), {}, &ckpt_range::start,
                       &ckpt_range::start);
    for (const ckpt_range &range : sorted) {
        append_range(united, range);
    }
    return united;
}

PageRanges intersect(const PageRanges &left, const PageRanges &right)
{
    PageRanges common;
    auto other = right.begin();
    for (const ckpt_range &range : left) {
        while (other != right.end() && other->end <= range.start) {
            ++other;
        }
        for (auto it = other; it != right.end() && it->start < range.end; ++it) {
            append_range(common, {std::max(range.start, it->start),
                                  std::min(range.end, it->end)});
        }
    }
    return common;
}

PageRanges subtract(const PageRanges &left, const PageRanges &right)
{
    PageRanges rest;
    auto other = right.begin();
    for (const ckpt_range &range : left) {
        std::uint64_t start = range.start;
        while (other != right.end() && other->end <= start) {
            ++other;
        }
        for (auto it = other; it != right.end() && it->start < range.end; ++it) {
            append_range(rest, {start, std::min(it->start, range.end)});
            start = std::max(start, it->end);
        }
        append_range(rest, {start, range.end});
    }
    return rest;
}

std::uint64_t length_of(const PageRanges &ranges)
{
    std::uint64_t sum = 0;
    for (const ckpt_range &range : ranges) {
        CKPT_EXPECT(range.start <= range.end);
        sum += range.end - range.start;
    }
    return sum;
}

} // namespace ckpt
