/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec.hpp - how chunks are compressed: not at all, with LZ4 or with zstd.
 *
 * Compressed chunks are what the filters make that are registered with the HDF
 * Group for LZ4 and zstd, so that h5py and h5dump with the usual plugins read them.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ckpt
{

/* How a chunk is stored, as in ChunkRecord. */
enum class ChunkCoding : std::uint32_t {
    zstd = 0,  /* a frame */
    plain = 1, /* as it is */
    lz4 = 2,   /* lz4_chunk.hpp */
};

struct Codec {
    enum class Kind { none, lz4, zstd };

    Kind kind = Kind::zstd;
    int level = 1; /* zstd's; negative ones are faster */

    /* "none", "lz4", "zstd" or "zstd:LEVEL"; throws Error on anything else. */
    static Codec parse(std::string_view text);
    std::string text() const;
};

/* One thread's compressor; keeps its tables from chunk to chunk. */
class Compressor
{
  public:
    explicit Compressor(Codec codec);
    ~Compressor();

    /* Compresses `input` into `output`. Returns the size, or 0 if the chunk
     * is better stored as it is. `output` may be smaller than the input. */
    std::size_t compress(std::span<const std::byte> input,
                         std::span<std::byte> output);

    /* How what compress() has made is stored. */
    ChunkCoding coding() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/* Decompresses a chunk, not a plain one, that must fill `output` exactly. Returns
 * an empty text, or why it is wrong. */
std::string decompress(ChunkCoding coding, std::span<const std::byte> input,
                       std::span<std::byte> output);

} // namespace ckpt
