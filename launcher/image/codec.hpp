/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec.hpp - how chunks are stored: as they are, or compressed with LZ4 or zstd.
 *
 * Compressed chunks are what the filters make that are registered with the HDF
 * Group for LZ4 and zstd, so that h5py and h5dump with the usual plugins read them.
 */
#pragma once

#include <cstddef>
#include <cstdint>
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
    enum class Kind { none, lz4, zstd, automatic };

    Kind kind = Kind::zstd;
    int level = 1; /* zstd's; negative ones are faster */

    /* "none", "lz4", "zstd", "zstd:LEVEL" or "auto", which is one of the others for
     * each chunk (codec_choice.hpp); throws Error on anything else. */
    static Codec parse(std::string_view text);
    std::string text() const;
};

/* Decompresses a chunk, not a plain one, that must fill `output` exactly. Returns
 * an empty text, or why it is wrong. */
std::string decompress(ChunkCoding coding, std::span<const std::byte> input,
                       std::span<std::byte> output);

} // namespace ckpt
