/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_memory.cpp - a sparse file in memory.
 */
#include "config.h"
#include "image/seal/table_memory.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt
{

void TableMemory::write(std::uint64_t offset, std::span<const std::byte> bytes)
{
    CKPT_EXPECT(offset + bytes.size() >= offset);
    while (!bytes.empty()) {
        const std::size_t at = offset % page_size;
        const std::size_t part = std::min(bytes.size(), page_size - at);
        std::unique_ptr<Page> &page = pages_[offset / page_size];
        if (!page) {
            page = std::make_unique<Page>();
        }
        std::ranges::copy(bytes.first(part), page->begin() + at);
        bytes = bytes.subspan(part);
        offset += part;
    }
}

void TableMemory::read(std::uint64_t offset, std::span<std::byte> bytes) const
{
    CKPT_EXPECT(offset + bytes.size() >= offset);
    while (!bytes.empty()) {
        const std::size_t at = offset % page_size;
        const std::size_t part = std::min(bytes.size(), page_size - at);
        const auto page = pages_.find(offset / page_size);
        if (page == pages_.end()) {
            std::ranges::fill(bytes.first(part), std::byte{0});
        } else {
            std::ranges::copy_n(page->second->begin() + at, part, bytes.begin());
        }
        bytes = bytes.subspan(part);
        offset += part;
    }
}

} // namespace ckpt
