/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec.cpp - names of codecs, and decompression.
 */
#include "config.h"
#include "image/codec/codec.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/codec/lz4_chunk.hpp"

#include <zstd.h>

#include <charconv>

namespace ckpt
{

Codec Codec::parse(std::string_view text)
{
    Codec codec;
    if (text == "none") {
        return {Kind::none};
    }
    if (text == "lz4") {
        return {Kind::lz4};
    }
    if (text == "auto") {
        return {Kind::automatic};
    }
    std::string_view name = text.substr(0, text.find(':'));
    if (name != "zstd") {
        fail("unknown codec '{}'; there are none, lz4, zstd, zstd:LEVEL and "
             "auto",
             text);
    }
    if (name.size() < text.size()) {
        std::string_view level = text.substr(name.size() + 1);
        auto [end, error] = std::from_chars(
            level.data(), level.data() + level.size(), codec.level);
        if (error != std::errc() || end != level.data() + level.size() ||
            codec.level < ZSTD_minCLevel() || codec.level > ZSTD_maxCLevel()) {
            fail("codec '{}': the level must be a number from {} to {}", text,
                 ZSTD_minCLevel(), ZSTD_maxCLevel());
        }
    }
    return codec;
}

std::string Codec::text() const
{
    switch (kind) {
    case Kind::none:
        return "none";
    case Kind::lz4:
        return "lz4";
    case Kind::automatic:
        return "auto";
    default:
        return fmt::format("zstd:{}", level);
    }
}

std::string decompress(ChunkCoding coding, std::span<const std::byte> input,
                       std::span<std::byte> output)
{
    CKPT_EXPECT(coding != ChunkCoding::plain);
    if (coding == ChunkCoding::lz4) {
        return decompress_lz4_chunk(input, output);
    }
    std::size_t size = ZSTD_decompress(output.data(), output.size(),
                                       input.data(), input.size());
    if (ZSTD_isError(size)) {
        return fmt::format("not a zstd frame: {}", ZSTD_getErrorName(size));
    }
    if (size != output.size()) {
        return fmt::format("{} bytes after decompression, not {}", size,
                           output.size());
    }
    return {};
}

} // namespace ckpt
