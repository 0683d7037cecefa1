/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_file_reader.hpp - reads a node file back; trusts nothing in it.
 *
 * The constructor checks owner, version, length and the checksum of everything
 * that is not chunk data, before HDF5 sees the file; chunks are checked as they
 * are read. Every error names the file, and as far as known rank, region, chunk.
 */
#pragma once

#include "image/page_ranges.hpp"
#include "image/rank_image.hpp"

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

/* Where the content of pages is to go that have these addresses. */
struct MemoryPlace {
    std::uint64_t address; /* of the first */
    std::span<std::byte> bytes;

    std::uint64_t end() const { return address + bytes.size(); }
};

struct ReaderOptions {
    unsigned threads = 0; /* 0: one for each online CPU */
    /* Checksum of the piece by the manifest; 0 is a checksum as well. */
    std::optional<std::uint64_t> checksum;
    /* Likewise, the salt of a sealed one, and the checkpoint that it is of; empty: any. */
    std::string salt = {};
    std::string owner = {};
    /* What has that which the file lacks; null: then no more than its tables can be read,
     * if it lacks anything. */
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
    /* 0 if it has none; of its base. */
    std::uint64_t identity() const;
    std::uint64_t base_identity() const;

    /* Ranks in the file, rising. A program without MPI is rank 0. */
    const std::vector<int> &ranks() const;
    const RankImage &rank(int rank) const;

    /* Bytes of a region, in whole chunks and runs, that may be other than zero. */
    std::uint64_t content_of(int rank, std::size_t region) const;

    /* Puts the content of pages in their places, which are all zero and have rising
     * addresses: each chunk is read once. They lie in regions whose content is in the image. */
    void read_pages(int rank, std::span<const MemoryPlace> places) const;

    /*
     * Puts the content of a region at `destination`, which must have the
     * region's length and be all zero, as fresh memory is: pages of zeros are
     * not touched. Each chunk's checksum is verified first. Not for regions
     * saved by reference.
     */
    void read_region(int rank, std::size_t region,
                     std::span<std::byte> destination) const;

    /* Puts a rank's message log at `destination`, which must have its size and
     * be all zero. Chunks and messages are checked. */
    void read_message_log(int rank, std::span<std::byte> destination) const;

    /* Reads every chunk of every rank, also of the base. `progress` gets bytes done and in
     * all, without it. */
    void verify(const std::function<void(std::uint64_t, std::uint64_t)>
                    &progress = {}) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ckpt
