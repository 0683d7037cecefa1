/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec.cpp - compresses and decompresses chunks.
 */
#include "config.h"
#include "image/codec.hpp"

#include "common/error.hpp"
#include "image/lz4_chunk.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <new>

namespace ckpt
{

namespace
{

/* A chunk that shrinks by less than this part is stored as it is: reading it
 * back is then one copy. */
constexpr std::size_t worthwhile_part = 32;

/* Of a chunk at least eight times as large as the sample, first the sample is
 * compressed: pages from all over the chunk. If those do not shrink, the chunk
 * is taken not to; trying costs as much as writing. */
constexpr std::size_t sample_part = 4096;
constexpr std::size_t sample_parts = 8;
constexpr std::size_t sample_size = sample_part * sample_parts;

struct ContextDeleter {
    void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
};

} // namespace

Codec Codec::parse(std::string_view text)
{
    Codec codec;
    if (text == "none" || text == "lz4") {
        codec.kind = text == "lz4" ? Kind::lz4 : Kind::none;
        return codec;
    }
    std::string_view name = text.substr(0, text.find(':'));
    if (name != "zstd") {
        fail("unknown codec '{}'; there are none, lz4, zstd and zstd:LEVEL", text);
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
    default:
        return fmt::format("zstd:{}", level);
    }
}

struct Compressor::Impl {
    std::size_t try_compress(std::span<const std::byte> input,
                             std::span<std::byte> output) const;
    bool sample_shrinks(std::span<const std::byte> input,
                        std::span<std::byte> output) const;

    Codec codec;
    std::unique_ptr<ZSTD_CCtx, ContextDeleter> context; /* zstd's */
};

/* The compressed size, or 0 if it is not worthwhile. */
std::size_t
Compressor::Impl::try_compress(std::span<const std::byte> input,
                               std::span<std::byte> output) const
{
    std::size_t limit = input.size() - input.size() / worthwhile_part;
    if (codec.kind == Codec::Kind::lz4) {
        return compress_lz4_chunk(input, output, limit);
    }
    std::size_t size = ZSTD_compressCCtx(
        context.get(), output.data(), std::min(output.size(), limit),
        input.data(), input.size(), codec.level);
    return ZSTD_isError(size) ? 0 : size;
}

bool Compressor::Impl::sample_shrinks(std::span<const std::byte> input,
                                      std::span<std::byte> output) const
{
    std::array<std::byte, sample_size> sample;
    std::size_t step = input.size() / sample_parts;
    for (std::size_t i = 0; i < sample_parts; i++) {
        std::memcpy(&sample[i * sample_part], &input[i * step], sample_part);
    }
    return try_compress(sample, output) > 0;
}

Compressor::Compressor(Codec codec) : impl_(std::make_unique<Impl>())
{
    impl_->codec = codec;
    if (codec.kind == Codec::Kind::zstd) {
        impl_->context.reset(ZSTD_createCCtx());
        if (!impl_->context) {
            throw std::bad_alloc();
        }
    }
}

Compressor::~Compressor() = default;

std::size_t Compressor::compress(std::span<const std::byte> input,
                                 std::span<std::byte> output)
{
    if (impl_->codec.kind == Codec::Kind::none) {
        return 0;
    }
    if (input.size() >= 8 * sample_size &&
        !impl_->sample_shrinks(input, output)) {
        return 0;
    }
    return impl_->try_compress(input, output);
}

ChunkCoding Compressor::coding() const
{
    return impl_->codec.kind == Codec::Kind::lz4 ? ChunkCoding::lz4 : ChunkCoding::zstd;
}

std::string decompress(ChunkCoding coding, std::span<const std::byte> input,
                       std::span<std::byte> output)
{
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
