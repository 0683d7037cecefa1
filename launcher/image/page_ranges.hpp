/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_ranges.hpp - sets of addresses, as ranges that rise and do not touch each other.
 */
#pragma once

#include "ckpt/snapshot.h"

#include <cstdint>
#include <vector>

namespace ckpt
{

using PageRanges = std::vector<ckpt_range>;

/* Adds a range that begins behind, or at, the end of the last one. */
void append_range(PageRanges &ranges, const ckpt_range &range);

PageRanges unite(const PageRanges &left, const PageRanges &right);
PageRanges intersect(const PageRanges &left, const PageRanges &right);
/* What is in `left` and not in `right`. */
PageRanges subtract(const PageRanges &left, const PageRanges &right);

/* How many addresses. */
std::uint64_t length_of(const PageRanges &ranges);

} // namespace ckpt
