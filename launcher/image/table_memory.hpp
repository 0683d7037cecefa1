/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_memory.hpp - the parts of a sealed node file that HDF5 works with, as they are before
 * they are encrypted: all but the chunks. They are in memory, never in the file.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace ckpt
{

/* Sparse: what was not written reads as zeros. Not thread-safe: HDF5's lock is held. */
class TableMemory
{
  public:
    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;

  private:
    static constexpr std::size_t page_size = 4096;
    using Page = std::array<std::byte, page_size>;

    std::map<std::uint64_t, std::unique_ptr<Page>> pages_; /* by offset / page_size */
};

} // namespace ckpt
