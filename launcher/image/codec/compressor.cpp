/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compressor.cpp - compresses a chunk after a trial on a sample.
 */
#include "config.h"
#include "image/codec/compressor.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "image/codec/codec_choice.hpp"
#include "image/codec/lz4_chunk.hpp"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

namespace ckpt
{

namespace
{

/* A chunk that shrinks by less than 1/32 is stored uncompressed, because
 * reading it back then takes only one copy. */
constexpr std::size_t worthwhile_part = 32;

/* A chunk of at least eight times the sample's size is sampled first, with
 * pages from all over the chunk. If the sample does not shrink, the chunk is
 * stored uncompressed; a full attempt costs as much time as writing. */
constexpr std::size_t sample_part = 4096;
constexpr std::size_t sample_parts = 8;
constexpr std::size_t sample_size = sample_part * sample_parts;

using Sample = std::array<std::byte, sample_size>;

struct ContextDeleter {
    void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
};

/* Returns the sample to try first; a small chunk is its own sample. */
std::span<const std::byte> sample_of(std::span<const std::byte> input, Sample &sample)
{
    if (input.size() < 8 * sample_size) {
        return input;
    }
    std::size_t step = input.size() / sample_parts;
    CKPT_INVARIANT(step >= sample_part); /* the parts do not overlap */
    for (std::size_t i = 0; i < sample_parts; i++) {
        std::memcpy(&sample[i * sample_part], &input[i * step], sample_part);
    }
    return sample;
}

} // namespace

struct Compressor::Impl {
    std::size_t run(ChunkCoding coding, std::span<const std::byte> input,
                    std::span<std::byte> output) const;
    ChunkCoding fixed(std::span<const std::byte> input,
                      std::span<std::byte> output) const;
    ChunkCoding chosen(std::span<const std::byte> input,
                       std::span<std::byte> output) const;

    Codec codec;
    CodecChoice *choice = nullptr; /* not null: chooses the codec */
    std::unique_ptr<ZSTD_CCtx, ContextDeleter> context;
};

/* Returns the compressed size, or 0 if the chunk does not shrink enough. */
std::size_t Compressor::Impl::run(ChunkCoding coding,
                                  std::span<const std::byte> input,
                                  std::span<std::byte> output) const
{
    CKPT_EXPECT(coding != ChunkCoding::plain && !input.empty());
    CKPT_EXPECT(coding == ChunkCoding::lz4 || context);
    std::size_t limit = input.size() - input.size() / worthwhile_part;
    if (coding == ChunkCoding::lz4) {
        return compress_lz4_chunk(input, output, limit);
    }
    std::size_t size = ZSTD_compressCCtx(
        context.get(), output.data(), std::min(output.size(), limit),
        input.data(), input.size(), codec.level);
    return ZSTD_isError(size) ? 0 : size;
}

/* Returns the configured codec, or plain if the sample does not shrink. */
ChunkCoding Compressor::Impl::fixed(std::span<const std::byte> input,
                                    std::span<std::byte> output) const
{
    ChunkCoding coding =
        codec.kind == Codec::Kind::lz4 ? ChunkCoding::lz4 : ChunkCoding::zstd;
    Sample place;
    std::span sample = sample_of(input, place);
    bool shrinks = sample.size() == input.size() || run(coding, sample, output) > 0;

    return shrinks ? coding : ChunkCoding::plain;
}

ChunkCoding Compressor::Impl::chosen(std::span<const std::byte> input,
                                     std::span<std::byte> output) const
{
    Sample place;
    std::span sample = sample_of(input, place);

    return choice->choose(input.size(), sample.size(), [&](ChunkCoding coding) {
        Stopwatch watch;
        std::size_t size = run(coding, sample, output);
        return CodecChoice::Trial{size, watch.seconds()};
    });
}

Compressor::Compressor(Codec codec, CodecChoice *choice)
    : impl_(std::make_unique<Impl>())
{
    impl_->codec = codec;
    impl_->choice = codec.kind == Codec::Kind::automatic ? choice : nullptr;
    if (codec.kind == Codec::Kind::zstd || codec.kind == Codec::Kind::automatic) {
        impl_->context.reset(ZSTD_createCCtx());
        if (!impl_->context) {
            throw std::bad_alloc();
        }
    }
}

Compressor::~Compressor() = default;

Compressed Compressor::compress(std::span<const std::byte> input,
                                std::span<std::byte> output)
{
    CodecChoice *choice = impl_->choice;
    if (impl_->codec.kind == Codec::Kind::none) {
        return {};
    }
    ChunkCoding coding = choice != nullptr ? impl_->chosen(input, output)
                                           : impl_->fixed(input, output);
    if (coding == ChunkCoding::plain) {
        return {};
    }
    Stopwatch watch;
    std::size_t size = impl_->run(coding, input, output);
    if (size == 0) {
        return {};
    }
    CKPT_INVARIANT(size <= input.size() && size <= output.size());
    if (choice != nullptr) {
        choice->note(coding, input.size(), watch.seconds());
    }
    return {size, coding};
}

} // namespace ckpt
