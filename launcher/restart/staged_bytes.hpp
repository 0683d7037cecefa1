/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * staged_bytes.hpp - content of files that a restart has read from the image. It is copied to
 * the file piece by piece, so that there are never two full copies.
 */
#pragma once

#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ckpt::restart
{

/* Memory that is initially zero, and is allocated by the kernel when it is written. */
class StagedBytes
{
  public:
    /* Throws Error. */
    explicit StagedBytes(std::size_t size);
    StagedBytes(StagedBytes &&other) noexcept;
    StagedBytes &operator=(StagedBytes &&) = delete;
    ~StagedBytes();

    std::span<std::byte> bytes() const { return bytes_; }

    /* Releases the whole pages of [from, from + size) to the kernel; these bytes are zero
     * again. */
    void give_back(std::size_t from, std::size_t size) const;

    /* Copies the first destination.size() bytes, and releases them. skip_zeros: the
     * destination is fresh memory, so pages of zeros are not written. */
    void move_to(std::span<std::byte> destination, bool skip_zeros) const;

  private:
    std::span<std::byte> bytes_;
};

/* The content of regions of kind CKPT_REGION_FILE_CONTENT; adjacent regions are stored
 * together. */
class FileContents
{
  public:
    /* Allocates memory for all. Throws Error. */
    explicit FileContents(const std::vector<ckpt_region> &regions);

    /* Returns the bytes at an address; an empty span unless all are here. */
    std::span<std::byte> find(std::uint64_t address, std::uint64_t size) const;

    /* Releases bytes that were used. */
    void give_back(std::uint64_t address, std::uint64_t size) const;

  private:
    struct Run {
        std::uint64_t start;
        StagedBytes staged;
    };
    const Run *run_of(std::uint64_t address, std::uint64_t size) const;

    std::vector<Run> runs_; /* by ascending address */
};

} // namespace ckpt::restart
