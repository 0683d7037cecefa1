/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct_io.hpp - writing past the kernel's page cache (O_DIRECT): what is written there once
 * is not read again soon, and needs no memory then. What both sides must be aligned to.
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

/* Of address, length and place in the file: what any disk is content with. */
inline constexpr std::size_t direct_alignment = 4096;

/* Chunks below this many bytes are left to the cache, which makes one write of them. */
inline constexpr std::size_t least_direct = 256u << 10;

struct FreeMemory {
    void operator()(std::byte *memory) const { std::free(memory); }
};
using AlignedBuffer = std::unique_ptr<std::byte[], FreeMemory>;

/* Memory that can be written directly; throws std::bad_alloc. */
AlignedBuffer make_aligned_buffer(std::size_t size);

/* The file once more, for direct writes; none if its file system does not have them. */
Fd open_direct(const std::filesystem::path &path);

/* How much of a chunk, from its start, can be written directly there. */
std::size_t direct_part(std::span<const std::byte> chunk, std::uint64_t offset);

} // namespace ckpt
