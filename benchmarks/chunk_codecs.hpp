/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chunk_codecs.hpp - what can be done to a chunk of memory before it is
 * written: the codecs that are compared, behind one interface.
 */
#pragma once

#include "image/codec.hpp"
#include "image/compressor.hpp"

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

    /* What is to be written of a chunk; valid until the next call, and as long
     * as the chunk. */
    virtual std::span<const std::byte>
    compress(std::span<const std::byte> chunk) = 0;

    /* Puts the chunk that was compressed last at `output`, which has its size
     * and is zero, as fresh memory is. Throws Error. */
    virtual void decompress(std::span<std::byte> output) = 0;
};

/* As checkpoints are written: nothing is stored of zeros, and what hardly
 * shrinks is stored as it is. */
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

/* The codec of 1993, which is given everything and always taken. */
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

/* All that are compared. */
std::vector<std::unique_ptr<ChunkCodec>> make_chunk_codecs();

} // namespace ckpt::bench
