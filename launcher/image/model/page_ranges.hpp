/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_ranges.hpp - sets of addresses, as ascending ranges that do not touch each
 * other.
 */
#pragma once

#include "ckpt/snapshot.h"

#include <cstdint>
#include <vector>

namespace ckpt
{

using PageRanges = std::vector<ckpt_range>;

/* Appends a range that begins at or after the end of the last one. */
void append_range(PageRanges &ranges, const ckpt_range &range);

PageRanges unite(const PageRanges &left, const PageRanges &right);
PageRanges intersect(const PageRanges &left, const PageRanges &right);
/* Returns the addresses in `left` that are not in `right`. */
PageRanges subtract(const PageRanges &left, const PageRanges &right);

/* Returns the number of addresses. */
std::uint64_t length_of(const PageRanges &ranges);

} // namespace ckpt
