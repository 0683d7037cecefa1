/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_reader.hpp - reads a node file back and validates it completely.
 *
 * Before HDF5 sees the file, the constructor checks owner, version, length and the checksum of
 * everything except chunk data. Chunks are verified as they are read. Every error names the
 * file, and rank, region and chunk as far as known.
 */
#pragma once

#include "image/model/page_ranges.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ckpt
{

class NodeFileReader;

/* The destination for the content of pages with consecutive addresses. */
struct MemoryPlace {
    std::uint64_t address; /* of the first page */
    std::span<std::byte> bytes;

    std::uint64_t end() const { return address + bytes.size(); }
};

struct ReaderOptions {
    unsigned threads = 0; /* 0: one for each online CPU */
    /* The piece's checksum in the manifest; 0 is a valid checksum. */
    std::optional<std::uint64_t> checksum;
    /* From the manifest: the salt of a sealed piece, and the checkpoint to which it belongs;
     * empty: any. */
    std::string salt = {};
    std::string owner = {};
    /* The reader of the base file, which has the content that an incremental file lacks. Null:
     * of an incremental file only the tables can be read. */
    std::shared_ptr<const NodeFileReader> base = nullptr;
};

class NodeFileReader
{
  public:
    explicit NodeFileReader(const std::filesystem::path &path,
                            const ReaderOptions &options = {});
    ~NodeFileReader();
    NodeFileReader(NodeFileReader &&) noexcept;

    std::uint64_t bytes() const;
    std::uint64_t checksum() const;
    std::uint64_t chunk_size() const;
    const std::string &codec() const;
    /* The identity of this file and of its base; 0 if there is none. */
    std::uint64_t identity() const;
    std::uint64_t base_identity() const;

    /* Returns the ranks in the file, ascending. A program without MPI is rank 0. */
    const std::vector<int> &ranks() const;
    const RankImage &rank(int rank) const;

    /* Returns the number of bytes of a region, in whole chunks and runs, that may be
     * non-zero. */
    std::uint64_t content_of(int rank, std::size_t region) const;

    /* Copies the content of pages to their places, which are all zero and ascend by address.
     * Reads each chunk once. The pages lie in regions whose content is in the image. */
    void read_pages(int rank, std::span<const MemoryPlace> places) const;

    /*
     * Copies the content of a region to `destination`. `destination` has the region's length
     * and is all zero, like fresh memory; pages of zeros are not touched. Verifies the checksum
     * of each chunk first. Not for regions saved by reference.
     */
    void read_region(int rank, std::size_t region,
                     std::span<std::byte> destination) const;

    /* Copies a rank's message log to `destination`, which has the log's size and is all zero.
     * Verifies chunks and messages. */
    void read_message_log(int rank, std::span<std::byte> destination) const;

    /* Reads every chunk of every rank, including those of the base. Calls `progress` with the
     * bytes done and the total; both exclude the base. */
    void verify(const std::function<void(std::uint64_t, std::uint64_t)>
                    &progress = {}) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ckpt
