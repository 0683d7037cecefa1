/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table_memory.hpp - the unencrypted tables of a sealed node file, on which HDF5 works: all
 * of the file except the chunks. They are only in memory, never in the file.
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

/* Sparse: bytes that were not written read as zeros. Not thread-safe: the caller holds HDF5's
 * lock. */
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
