/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staged_bytes.hpp - what a restart reads from the image for a file, and gives to the file
 * piece by piece, so that there are never two copies of all of it.
 */
#pragma once

#include "image/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ckpt::restart
{

/* Memory that is all zero and takes nothing until it is written to. */
class StagedBytes
{
  public:
    /* Throws Error. */
    explicit StagedBytes(std::size_t size);
    StagedBytes(StagedBytes &&other) noexcept;
    StagedBytes &operator=(StagedBytes &&) = delete;
    ~StagedBytes();

    std::span<std::byte> bytes() const { return bytes_; }

    /* Gives whole pages of [from, from + size) back; these bytes are zero again. */
    void give_back(std::size_t from, std::size_t size) const;

    /* Copies the first destination.size() bytes, which are given back. skip_zeros: the
     * destination is fresh, and its pages of zeros are left alone. */
    void move_to(std::span<std::byte> destination, bool skip_zeros) const;

  private:
    std::span<std::byte> bytes_;
};

/* Regions of the kind CKPT_REGION_FILE_CONTENT, those without a gap between them together. */
class FileContents
{
  public:
    /* Makes room for all. Throws Error. */
    explicit FileContents(const std::vector<ckpt_region> &regions);

    /* The bytes at such an address, or an empty span if not all are here. */
    std::span<std::byte> find(std::uint64_t address, std::uint64_t size) const;

    /* These have been used. */
    void give_back(std::uint64_t address, std::uint64_t size) const;

  private:
    struct Run {
        std::uint64_t start;
        StagedBytes staged;
    };
    const Run *run_of(std::uint64_t address, std::uint64_t size) const;

    std::vector<Run> runs_; /* by rising address */
};

} // namespace ckpt::restart
