/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec.hpp - how chunks are compressed: not at all, or with zstd.
 *
 * Compressed chunks are zstd frames, named in the file by the filter id that
 * is registered for zstd with the HDF Group, so that h5py and h5dump with the
 * usual plugin read them.
 */
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ckpt
{

struct Codec {
    enum class Kind { none, zstd };

    Kind kind = Kind::zstd;
    int level = 1; /* zstd's; negative ones are faster */

    /* "none", "zstd" or "zstd:LEVEL"; throws Error on anything else. */
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

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/* Decompresses a zstd frame that must fill `output` exactly. Returns an empty
 * text, or why the frame is wrong. */
std::string decompress(std::span<const std::byte> input,
                       std::span<std::byte> output);

} // namespace ckpt
