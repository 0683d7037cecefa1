/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec_comparison.hpp - the effect and the speed of each codec on the memory
 * of saved ranks. Every chunk is compared after decompression.
 */
#pragma once

#include "chunk_codecs.hpp"
#include "image/nodefile/node_file_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace ckpt::bench
{

/* The image's default (launcher/image/write/node_file_writer.hpp). */
inline constexpr std::size_t chunk_size = 1u << 20;

/* The result of a codec on some chunks. */
struct Tally {
    std::uint64_t chunks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_left = 0; /* after compression */
    double compress_seconds = 0;
    double decompress_seconds = 0;

    Tally &operator+=(const Tally &other);
};

/* Separates chunks with content from chunks of zeros. */
struct CodecResult {
    Tally content;
    Tally zeros;
};

class CodecComparison
{
  public:
    /* Times are the least of `rounds` rounds, for each chunk. */
    explicit CodecComparison(unsigned rounds);

    /*
     * Adds all memory of a rank whose content is in the file, except memory
     * that would count as the program's zeros: ckpt's own tables, most of which
     * are never used, and unreadable zeros, which are reserved address space.
     * Throws Error.
     */
    void add_rank(const NodeFileReader &reader, int rank);

    const std::vector<std::unique_ptr<ChunkCodec>> &codecs() const
    {
        return codecs_;
    }
    /* Returns the results in the order of the codecs. */
    const std::vector<CodecResult> &results() const
    {
        return results_;
    }

  private:
    using Tallies = std::vector<Tally>; /* one for each codec */

    void add_region(std::span<const std::byte> content, bool is_accessible);
    void add_chunk(std::span<const std::byte> chunk, bool is_accessible);
    Tallies measure(std::span<const std::byte> chunk);
    Tally measure_once(ChunkCodec &codec, std::span<const std::byte> chunk);

    unsigned rounds_;
    std::vector<std::unique_ptr<ChunkCodec>> codecs_ = make_chunk_codecs();
    std::vector<CodecResult> results_;
    std::vector<std::byte> back_; /* decompressed bytes */
    /* By their size: chunks of zeros of the same size are equal. */
    std::map<std::size_t, Tallies> zeros_;
};

} // namespace ckpt::bench
