/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encoded_chunk.hpp - a chunk's way into the form that the file has, and back.
 */
#pragma once

#include "image/codec.hpp"
#include "image/compressor.hpp"
#include "image/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* A chunk as it goes to the file. */
struct EncodedChunk {
    std::span<const std::byte> bytes; /* empty: all zero, not stored */
    ChunkCoding coding = ChunkCoding::plain;
    std::uint64_t checksum = 0;       /* XXH3-64 of `bytes` */
};

/* `output` has room for `chunk`; the result is in one of the two. */
EncodedChunk encode_chunk(std::span<const std::byte> chunk,
                          std::span<std::byte> output, Compressor &compressor);

/* Buffers of one thread that reads chunks, kept from chunk to chunk. */
struct ChunkBuffers {
    std::vector<std::byte> stored;
    std::vector<std::byte> plain;
};

/* Reads what is stored of a chunk into the buffer, which grows as need be, and checks it.
 * Throws Error; `text` names the chunk. */
std::span<const std::byte> read_stored_chunk(int fd, const ChunkRecord &chunk,
                                             std::vector<std::byte> &buffer,
                                             const std::string &text);

/*
 * Reads a chunk of `size` bytes, or more if it is stored as it is, and checks
 * it. The result lives in the buffers. Throws Error; `text` names the chunk.
 */
std::span<const std::byte> decode_chunk(int fd, const ChunkRecord &chunk,
                                        std::size_t size, ChunkBuffers &buffers,
                                        const std::string &text);

} // namespace ckpt
