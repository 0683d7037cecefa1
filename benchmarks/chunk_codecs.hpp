/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_codecs.hpp - the compared codecs for chunks of memory, behind one
 * interface.
 */
#pragma once

#include "image/codec/codec.hpp"
#include "image/codec/compressor.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ckpt::bench
{

class ChunkCodec
{
  public:
    virtual ~ChunkCodec() = default;

    virtual std::string name() const = 0;

    /* Returns the compressed bytes of a chunk; valid until the next call, and
     * as long as the chunk. */
    virtual std::span<const std::byte>
    compress(std::span<const std::byte> chunk) = 0;

    /* Decompresses the last compressed chunk into `output`, which has the
     * chunk's size and is zero, like fresh memory. Throws Error. */
    virtual void decompress(std::span<std::byte> output) = 0;
};

/* Works as in checkpoints: zeros are not stored, and chunks that hardly shrink
 * are stored uncompressed. */
class ImageCodec : public ChunkCodec
{
  public:
    explicit ImageCodec(const std::string &name);

    std::string name() const override;
    std::span<const std::byte>
    compress(std::span<const std::byte> chunk) override;
    void decompress(std::span<std::byte> output) override;

  private:
    Codec codec_;
    Compressor compressor_;
    std::vector<std::byte> buffer_;
    std::span<const std::byte> stored_;
    ChunkCoding coding_ = ChunkCoding::plain;
};

/* The codec of 1993, which compresses every chunk and whose output is always
 * used. */
class HashCodec : public ChunkCodec
{
  public:
    std::string name() const override;
    std::span<const std::byte>
    compress(std::span<const std::byte> chunk) override;
    void decompress(std::span<std::byte> output) override;

  private:
    std::vector<std::byte> stored_;
};

/* Returns all compared codecs. */
std::vector<std::unique_ptr<ChunkCodec>> make_chunk_codecs();

} // namespace ckpt::bench
