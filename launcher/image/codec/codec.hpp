/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec.hpp - how chunks are stored: uncompressed, or compressed with LZ4 or zstd.
 *
 * Compressed chunks have the format of the LZ4 and zstd filters registered with the
 * HDF Group, so that h5py and h5dump read them with the usual plugins.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ckpt
{

/* How a chunk is stored, as recorded in ChunkRecord. */
enum class ChunkCoding : std::uint32_t {
    zstd = 0,  /* one zstd frame */
    plain = 1, /* uncompressed */
    lz4 = 2,   /* see lz4_chunk.hpp */
};

struct Codec {
    enum class Kind {
        none,
        lz4,
        zstd,
        automatic
    };

    Kind kind = Kind::zstd;
    int level = 1; /* zstd level; negative levels are faster */

    /* Parses "none", "lz4", "zstd", "zstd:LEVEL" or "auto"; "auto" picks one of the
     * others for each chunk (codec_choice.hpp). Throws Error on anything else. */
    static Codec parse(std::string_view text);
    std::string text() const;
};

/* Decompresses a compressed chunk, which must fill `output` exactly. Returns an
 * empty text, or a description of the damage. */
std::string decompress(ChunkCoding coding, std::span<const std::byte> input,
                       std::span<std::byte> output);

} // namespace ckpt
