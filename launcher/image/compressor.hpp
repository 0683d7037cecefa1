/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compressor.hpp - compresses chunks, those for which it is worthwhile.
 */
#pragma once

#include "image/codec.hpp"

#include <cstddef>
#include <memory>
#include <span>

namespace ckpt
{

class CodecChoice;

/* A chunk that is better stored as it is has size 0. */
struct Compressed {
    std::size_t size = 0;
    ChunkCoding coding = ChunkCoding::plain;
};

/* One thread's; keeps its tables from chunk to chunk. */
class Compressor
{
  public:
    /* `choice`, for the codec auto only, must outlive the compressor; without one
     * that is zstd. */
    explicit Compressor(Codec codec, CodecChoice *choice = nullptr);
    ~Compressor();

    /* Compresses `input` into `output`, which may be smaller than the input. */
    Compressed compress(std::span<const std::byte> input,
                        std::span<std::byte> output);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ckpt
