/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encoded_chunk.cpp - compresses and checksums chunks, and verifies chunks that
 * are read.
 */
#include "config.h"
#include "image/nodefile/encoded_chunk.hpp"

#include "common/bytes.hpp"
#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt
{

EncodedChunk encode_chunk(std::span<const std::byte> chunk,
                          std::span<std::byte> output, Compressor &compressor,
                          bool has_checksum)
{
    EncodedChunk encoded;
    if (is_all_zero(chunk)) {
        return encoded;
    }
    Compressed compressed = compressor.compress(chunk, output);
    encoded.coding = compressed.coding;
    encoded.bytes = compressed.size == 0 ? chunk : output.first(compressed.size);
    encoded.checksum = has_checksum ? checksum_of(encoded.bytes) : 0;
    CKPT_INVARIANT(encoded.bytes.size() <= chunk.size());
    return encoded;
}

std::string ChunkSeal::about(std::uint64_t index) const
{
    return fmt::format("chunk {} of {}", index, of);
}

std::string sealed_memory(int rank, std::uint32_t region)
{
    return fmt::format("region {} of rank {}", region, rank);
}

std::string sealed_pages(int rank)
{
    return fmt::format("the pages of rank {}", rank);
}

std::string sealed_message_log(int rank)
{
    return fmt::format("the message log of rank {}", rank);
}

EncodedChunk seal_chunk(const EncodedChunk &chunk, std::span<std::byte> output,
                        const ChunkSeal &seal, std::uint64_t index)
{
    const std::size_t size = chunk.bytes.size();
    CKPT_EXPECT(size > 0 && output.size() >= size + FileSeal::overhead);
    const std::span sealed = output.first(size + FileSeal::overhead);

    seal.seal->close(chunk.bytes, sealed.first(size),
                     sealed.subspan(size).first<FileSeal::overhead>(), seal.about(index));
    return {sealed, chunk.coding, checksum_of(sealed)};
}

namespace
{

/* Decrypts, in place, the chunk that read_stored_chunk() has put into the
 * buffer. */
std::span<const std::byte> open_chunk(std::span<const std::byte> stored,
                                      std::vector<std::byte> &buffer,
                                      const std::string &about, const FileSeal &seal,
                                      const std::string &text)
{
    CKPT_EXPECT(stored.size() >= FileSeal::overhead);
    const std::size_t size = stored.size() - FileSeal::overhead;
    const std::span part = std::span(buffer).first(size);

    if (!seal.open(part, stored.subspan(size).first<FileSeal::overhead>(), about)) {
        fail("{} was changed by somebody without the key", text);
    }
    return part;
}

} // namespace

std::span<const std::byte> read_stored_chunk(int fd, const ChunkRecord &chunk,
                                             std::vector<std::byte> &buffer,
                                             const std::string &text)
{
    buffer.resize(std::max<std::size_t>(buffer.size(), chunk.size));
    std::span stored = std::span(buffer).first(chunk.size);
    int error = read_exactly(fd, stored.data(), stored.size(), chunk.offset);
    if (error != 0) {
        fail_errno(error, "cannot read {}", text);
    }
    if (checksum_of(stored) != chunk.checksum) {
        fail("{} is damaged: its checksum is wrong", text);
    }
    return stored;
}

std::span<const std::byte> decode_chunk(int fd, const ChunkRecord &chunk,
                                        std::size_t size, ChunkBuffers &buffers,
                                        const std::string &text, const ChunkSeal &seal)
{
    std::span stored = read_stored_chunk(fd, chunk, buffers.stored, text);
    if (seal.seal != nullptr) {
        stored = open_chunk(stored, buffers.stored, seal.about(chunk.index), *seal.seal, text);
    }
    if (chunk.coding == ChunkCoding::plain) {
        if (stored.size() != size) {
            fail("{} is damaged: it has {} bytes instead of {}", text, stored.size(), size);
        }
        return stored;
    }
    buffers.plain.resize(std::max(buffers.plain.size(), size));
    std::span plain = std::span(buffers.plain).first(size);
    std::string reason = decompress(chunk.coding, stored, plain);
    if (!reason.empty()) {
        fail("{} is damaged: {}", text, reason);
    }
    return plain;
}

} // namespace ckpt
