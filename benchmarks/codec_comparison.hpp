/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec_comparison.hpp - what each codec makes of the memory of saved ranks,
 * and how long it takes. Every chunk is compared with what comes back.
 */
#pragma once

#include "chunk_codecs.hpp"
#include "image/node_file_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace ckpt::bench
{

/* As the image has them by default (launcher/image/node_file_writer.hpp). */
inline constexpr std::size_t chunk_size = 1u << 20;

/* What a codec made of some chunks. */
struct Tally {
    std::uint64_t chunks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_left = 0; /* after compression */
    double compress_seconds = 0;
    double decompress_seconds = 0;

    Tally &operator+=(const Tally &other);
};

/* Chunks with content and chunks of zeros apart. */
struct CodecResult {
    Tally content;
    Tally zeros;
};

class CodecComparison
{
  public:
    /* Times are the least of so many rounds, for each chunk. */
    explicit CodecComparison(unsigned rounds);

    /*
     * All memory of a rank whose content is in the file, but for what would
     * pass for zeros of the program: where ckpt describes the rank, most of
     * which is never used, and what is zero and may not be read, which is
     * address space set aside. Throws Error.
     */
    void add_rank(const NodeFileReader &reader, int rank);

    const std::vector<std::unique_ptr<ChunkCodec>> &codecs() const
    {
        return codecs_;
    }
    /* In the order of the codecs. */
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
    std::vector<std::byte> back_; /* what was decompressed */
    /* By their size: one chunk of zeros is like another. */
    std::map<std::size_t, Tallies> zeros_;
};

} // namespace ckpt::bench
