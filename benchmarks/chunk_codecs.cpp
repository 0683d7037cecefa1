/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_codecs.cpp - the image's codecs and the codec of 1993 behind one
 * interface.
 */
#include "chunk_codecs.hpp"

#include "common/bytes.hpp"
#include "common/error.hpp"
#include "hash_codec.hpp"

#include <algorithm>

namespace ckpt::bench
{

ImageCodec::ImageCodec(const std::string &name)
    : codec_(Codec::parse(name)), compressor_(codec_)
{
}

std::string ImageCodec::name() const
{
    return codec_.text();
}

std::span<const std::byte>
ImageCodec::compress(std::span<const std::byte> chunk)
{
    if (is_all_zero(chunk)) {
        return stored_ = {};
    }
    buffer_.resize(std::max(buffer_.size(), chunk.size()));
    auto [size, coding] = compressor_.compress(chunk, buffer_);
    coding_ = coding;
    return stored_ = size == 0 ? chunk : std::span(buffer_).first(size);
}

void ImageCodec::decompress(std::span<std::byte> output)
{
    if (stored_.empty()) {
        return;
    }
    if (coding_ == ChunkCoding::plain) {
        std::ranges::copy(stored_, output.begin());
        return;
    }
    std::string reason = ckpt::decompress(coding_, stored_, output);
    if (!reason.empty()) {
        fail("{}: {}", name(), reason);
    }
}

std::string HashCodec::name() const
{
    return "1993";
}

std::span<const std::byte> HashCodec::compress(std::span<const std::byte> chunk)
{
    return stored_ = hash_compress(chunk);
}

void HashCodec::decompress(std::span<std::byte> output)
{
    std::ranges::copy(hash_decompress(stored_, output.size()), output.begin());
}

std::vector<std::unique_ptr<ChunkCodec>> make_chunk_codecs()
{
    std::vector<std::unique_ptr<ChunkCodec>> codecs;

    codecs.push_back(std::make_unique<HashCodec>());
    for (const char *name : {"lz4", "zstd:1", "zstd:3"}) {
        codecs.push_back(std::make_unique<ImageCodec>(name));
    }
    return codecs;
}

} // namespace ckpt::bench
