/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compressor.hpp - compresses chunks where that pays off.
 */
#pragma once

#include "image/codec/codec.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace ckpt
{

class CodecChoice;

/* `size` is 0 for a chunk that should be stored uncompressed. */
struct Compressed {
    std::size_t size = 0;
    ChunkCoding coding = ChunkCoding::plain;
};

/* Used by one thread; keeps its tables from chunk to chunk. */
class Compressor
{
  public:
    /* `choice` is for the codec "auto" only, and must outlive the compressor.
     * Without it "auto" means zstd. */
    explicit Compressor(Codec codec, CodecChoice *choice = nullptr);
    ~Compressor();

    /* Compresses `input` into `output`; `output` may be smaller than `input`. */
    Compressed compress(std::span<const std::byte> input,
                        std::span<std::byte> output);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ckpt
