/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * granule_map.hpp - the chunks of a plan cut into granules: the pages that are copied, and
 * may be written to again, together.
 */
#pragma once

#include "image/chunk_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace ckpt
{

class GranuleMap
{
  public:
    using Index = std::size_t; /* by rising address, from 0 */

    /* Of the plan of a process that stands still, without packed jobs; it outlives this.
     * size: bytes of a granule, a multiple of the page size. */
    GranuleMap(const ChunkPlan &plan, std::size_t size);

    std::size_t size() const { return size_; }
    std::size_t count() const { return first_.back(); }

    /* Those of a job: from the first up to, without it, the second. */
    std::pair<Index, Index> of(const ChunkJob &job) const;
    /* Those with a page in the range, likewise. */
    std::pair<Index, Index> within(const ckpt_range &range) const;
    /* The one with a page that the plan wants, or that lies between two such ones. */
    std::optional<Index> find(std::uint64_t page) const;

    /* Of its job in the plan. */
    std::size_t number(Index granule) const;
    /* Where it starts in its chunk, bytes; and in the process. */
    std::size_t offset(Index granule) const;
    std::uint64_t start(Index granule) const;
    /* From the first to the last page of it that the plan may want. */
    ckpt_range content(Index granule) const;
    ckpt_range content(const ChunkJob &job) const;
    /* Whether the plan wants any page of it that lies in the range. */
    bool has_wanted(Index granule, const ckpt_range &range) const;
    /* All runs of its chunk. */
    std::span<const ckpt_range> runs(Index granule) const;
    std::span<const ckpt_range> runs(const ChunkJob &job) const;

  private:
    const ChunkJob &job(Index granule) const;
    std::size_t number(const ChunkJob &job) const;

    const ChunkPlan &plan_;
    const std::size_t size_;
    std::vector<Index> first_; /* by job, and one more: how many there are */
};

} // namespace ckpt
