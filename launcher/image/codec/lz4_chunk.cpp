/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lz4_chunk.cpp - encodes and decodes LZ4 chunks.
 */
#include "config.h"
#include "image/codec/lz4_chunk.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <lz4.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ckpt
{

namespace
{

constexpr std::size_t header_size = 12; /* bytes at the start of a chunk */
constexpr std::size_t block_header_size = 4;
static_assert(header_size == sizeof(std::uint64_t) + sizeof(std::uint32_t));
static_assert(block_header_size == sizeof(std::uint32_t));

template <typename Number>
Number load_big_endian(const std::byte *from)
{
    Number number = 0;
    for (std::size_t i = 0; i < sizeof(Number); i++) {
        number = static_cast<Number>(number << 8) | std::to_integer<Number>(from[i]);
    }
    return number;
}

template <typename Number>
void store_big_endian(std::byte *to, Number number)
{
    for (std::size_t i = sizeof(Number); i-- > 0; number >>= 8) {
        to[i] = static_cast<std::byte>(number & 0xff);
    }
}

/* Decompresses one block to the start of `output`. Returns whether the block
 * was valid and had the right size. */
bool decompress_block(std::span<const std::byte> block, std::span<std::byte> output)
{
    if (block.size() == output.size()) {
        std::ranges::copy(block, output.begin());
        return true;
    }
    int made = LZ4_decompress_safe(reinterpret_cast<const char *>(block.data()),
                                   reinterpret_cast<char *>(output.data()),
                                   static_cast<int>(block.size()),
                                   static_cast<int>(output.size()));
    return made >= 0 && static_cast<std::size_t>(made) == output.size();
}

} // namespace

std::size_t compress_lz4_chunk(std::span<const std::byte> input,
                               std::span<std::byte> output, std::size_t limit)
{
    constexpr std::size_t headers = header_size + block_header_size;
    limit = std::min(limit, output.size());
    if (input.size() > LZ4_MAX_INPUT_SIZE || limit <= headers) {
        return 0;
    }
    int size = LZ4_compress_default(reinterpret_cast<const char *>(input.data()),
                                    reinterpret_cast<char *>(&output[headers]),
                                    static_cast<int>(input.size()),
                                    static_cast<int>(limit - headers));
    if (size <= 0) {
        return 0;
    }
    CKPT_INVARIANT(static_cast<std::size_t>(size) <= limit - headers);
    store_big_endian<std::uint64_t>(&output[0], input.size());
    store_big_endian<std::uint32_t>(&output[8],
                                    static_cast<std::uint32_t>(input.size()));
    store_big_endian<std::uint32_t>(&output[header_size],
                                    static_cast<std::uint32_t>(size));
    return headers + static_cast<std::size_t>(size);
}

std::size_t lz4_chunk_content_size(std::span<const std::byte> input)
{
    return input.size() < header_size
               ? 0
               : load_big_endian<std::uint64_t>(input.data());
}

std::string decompress_lz4_chunk(std::span<const std::byte> input,
                                 std::span<std::byte> output)
{
    std::size_t size = lz4_chunk_content_size(input);
    if (input.size() < header_size) {
        return fmt::format("an LZ4 chunk of {} bytes, less than its header", input.size());
    }
    if (size != output.size()) {
        return fmt::format("an LZ4 chunk of {} bytes, not {}", size, output.size());
    }
    std::size_t block_size = load_big_endian<std::uint32_t>(&input[8]);
    if (block_size == 0 || block_size > LZ4_MAX_INPUT_SIZE) {
        return fmt::format("an LZ4 chunk with blocks of {} bytes", block_size);
    }
    input = input.subspan(header_size);
    while (!output.empty()) {
        std::size_t part = std::min(block_size, output.size());
        std::size_t stored = input.size() < block_header_size
                                 ? input.size() + 1
                                 : load_big_endian<std::uint32_t>(input.data());
        if (stored > input.size() - std::min(input.size(), block_header_size) ||
            !decompress_block(input.subspan(block_header_size, stored),
                              output.first(part))) {
            return "an LZ4 block is damaged";
        }
        input = input.subspan(block_header_size + stored);
        output = output.subspan(part);
    }
    return input.empty() ? "" : "bytes behind an LZ4 chunk";
}

} // namespace ckpt
