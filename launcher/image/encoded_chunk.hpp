/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encoded_chunk.hpp - a chunk's way into the form that the file has, and back.
 */
#pragma once

#include "image/codec.hpp"
#include "image/compressor.hpp"
#include "image/file_seal.hpp"
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

/* `output` has room for `chunk`; the result is in one of the two. has_checksum: false if it
 * will be sealed, which makes another one. */
EncodedChunk encode_chunk(std::span<const std::byte> chunk,
                          std::span<std::byte> output, Compressor &compressor,
                          bool has_checksum = true);

/* Of the chunks of one thing in a file: with what they are sealed, if they are, and what it
 * is. */
struct ChunkSeal {
    const FileSeal *seal = nullptr;
    std::string of;

    std::string about(std::uint64_t index) const;
};

/* The things that chunks are of. */
std::string sealed_memory(int rank, std::uint32_t region);
std::string sealed_pages(int rank);
std::string sealed_message_log(int rank);

/* The chunk as it goes to a sealed file; `output` has FileSeal::overhead bytes more than its
 * bytes, which may be in it, at its beginning, and holds the result. */
EncodedChunk seal_chunk(const EncodedChunk &chunk, std::span<std::byte> output,
                        const ChunkSeal &seal, std::uint64_t index);

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
                                        const std::string &text, const ChunkSeal &seal = {});

} // namespace ckpt
