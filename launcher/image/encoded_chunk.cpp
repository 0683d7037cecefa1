/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * encoded_chunk.cpp - compresses and checksums chunks, and checks what is read.
 */
#include "config.h"
#include "image/encoded_chunk.hpp"

#include "common/bytes.hpp"
#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/files.hpp"

#include <algorithm>

namespace ckpt
{

EncodedChunk encode_chunk(std::span<const std::byte> chunk,
                          std::span<std::byte> output, Compressor &compressor)
{
    EncodedChunk encoded;
    if (is_all_zero(chunk)) {
        return encoded;
    }
    Compressed compressed = compressor.compress(chunk, output);
    encoded.coding = compressed.coding;
    encoded.bytes = compressed.size == 0 ? chunk : output.first(compressed.size);
    encoded.checksum = checksum_of(encoded.bytes);
    return encoded;
}

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
                                        const std::string &text)
{
    const std::span stored = read_stored_chunk(fd, chunk, buffers.stored, text);
    if (chunk.coding == ChunkCoding::plain) {
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
