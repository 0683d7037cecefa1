/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lz4_chunk.hpp - chunks in the format of the LZ4 filter registered with the HDF Group
 * (id 32004), so that h5py and h5dump read them with the usual plugin.
 *
 * All numbers are big-endian. A header has the decompressed size of the chunk (8 bytes)
 * and of a block (4 bytes). For each block follow its stored size (4 bytes) and its
 * bytes; a block that would not shrink is stored uncompressed. Chunks written by ckpt
 * have one block.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ckpt
{

/* Returns the size of the result in `output`, or 0 if that would be `limit` bytes or
 * more. */
std::size_t compress_lz4_chunk(std::span<const std::byte> input,
                               std::span<std::byte> output, std::size_t limit);

/* Decompresses a chunk of any number of blocks, which must fill `output` exactly.
 * Returns an empty text, or a description of the damage. */
std::string decompress_lz4_chunk(std::span<const std::byte> input,
                                 std::span<std::byte> output);

/* Returns the decompressed size of a chunk; 0 if it is not a valid chunk. */
std::size_t lz4_chunk_content_size(std::span<const std::byte> input);

} // namespace ckpt
