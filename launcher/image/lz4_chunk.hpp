/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lz4_chunk.hpp - chunks as the LZ4 filter that is registered with the HDF Group has
 * them (id 32004), so that h5py and h5dump with the usual plugin read them.
 *
 * Big-endian: 8 bytes with the size of all that follows when it is decompressed, 4
 * bytes with the size of a block of that, and for each block 4 bytes with the size that
 * it has here and the block, as it is if that is no smaller. Ours have one block.
 */
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ckpt
{

/* Returns the size in `output`, or 0 if it would be `limit` bytes or more. */
std::size_t compress_lz4_chunk(std::span<const std::byte> input,
                               std::span<std::byte> output, std::size_t limit);

/* Decompresses a chunk, of any number of blocks, that must fill `output` exactly.
 * Returns an empty text, or why it is wrong. */
std::string decompress_lz4_chunk(std::span<const std::byte> input,
                                 std::span<std::byte> output);

/* The size of a chunk when it is decompressed; 0 if it is none. */
std::size_t lz4_chunk_content_size(std::span<const std::byte> input);

} // namespace ckpt
