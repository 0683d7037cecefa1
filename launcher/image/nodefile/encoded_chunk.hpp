/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encoded_chunk.hpp - encodes a chunk to its form in the file, and decodes it.
 */
#pragma once

#include "image/codec/codec.hpp"
#include "image/codec/compressor.hpp"
#include "image/seal/file_seal.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

/* A chunk in the form that the file has. */
struct EncodedChunk {
    std::span<const std::byte> bytes; /* empty: all zero, not stored */
    ChunkCoding coding = ChunkCoding::plain;
    std::uint64_t checksum = 0; /* XXH3-64 of `bytes` */
};

/* `output` has room for `chunk`; the result is in one of the two. has_checksum: false if the
 * caller will seal the chunk, which computes another checksum. */
EncodedChunk encode_chunk(std::span<const std::byte> chunk,
                          std::span<std::byte> output, Compressor &compressor,
                          bool has_checksum = true);

/* Identifies the chunks of one dataset for encryption: the seal, null if the file is not
 * encrypted, and the dataset's name. */
struct ChunkSeal {
    const FileSeal *seal = nullptr;
    std::string of;

    std::string about(std::uint64_t index) const;
};

/* Return the name of a dataset for ChunkSeal::of. */
std::string sealed_memory(int rank, std::uint32_t region);
std::string sealed_pages(int rank);
std::string sealed_message_log(int rank);

/* Encrypts the chunk into `output`. `output` is FileSeal::overhead bytes larger than the
 * chunk's bytes, which may already be at its start. The result is in `output`. */
EncodedChunk seal_chunk(const EncodedChunk &chunk, std::span<std::byte> output,
                        const ChunkSeal &seal, std::uint64_t index);

/* Buffers of one thread that reads chunks; reused from chunk to chunk. */
struct ChunkBuffers {
    std::vector<std::byte> stored;
    std::vector<std::byte> plain;
};

/* Reads the stored bytes of a chunk into the buffer, which grows as needed, and verifies
 * their checksum. Throws Error; `text` names the chunk. */
std::span<const std::byte> read_stored_chunk(int fd, const ChunkRecord &chunk,
                                             std::vector<std::byte> &buffer,
                                             const std::string &text);

/*
 * Reads and verifies a chunk of `size` bytes; the result may be longer if the chunk is
 * stored uncompressed. The result points into the buffers. Throws Error; `text` names the
 * chunk.
 */
std::span<const std::byte> decode_chunk(int fd, const ChunkRecord &chunk,
                                        std::size_t size, ChunkBuffers &buffers,
                                        const std::string &text, const ChunkSeal &seal = {});

} // namespace ckpt
