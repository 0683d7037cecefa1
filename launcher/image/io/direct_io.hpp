/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct_io.hpp - writes that bypass the kernel's page cache (O_DIRECT). Checkpoints are
 * written once and rarely read soon, so caching them only takes memory. Also defines the
 * alignment that both sides must keep.
 */
#pragma once

#include "common/fd.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>

namespace ckpt
{

/* Alignment of address, length and file offset, sufficient for any disk. */
inline constexpr std::size_t direct_alignment = 4096;

/* Smaller chunks go through the page cache, which merges them into one write. */
inline constexpr std::size_t least_direct = 256u << 10;

struct FreeMemory {
    void operator()(std::byte *memory) const { std::free(memory); }
};
using AlignedBuffer = std::unique_ptr<std::byte[], FreeMemory>;

/* Allocates memory aligned for direct writes; throws std::bad_alloc. */
AlignedBuffer make_aligned_buffer(std::size_t size);

/* Opens the file a second time for direct writes; returns an invalid Fd if its file system
 * does not support them. */
Fd open_direct(const std::filesystem::path &path);

/* Returns how many bytes, from the start of the chunk, can be written directly at
 * `offset`. */
std::size_t direct_part(std::span<const std::byte> chunk, std::uint64_t offset);

} // namespace ckpt
