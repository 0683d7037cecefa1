/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * granule_map.hpp - the chunks of a plan cut into granules: the pages that are copied, and
 * may be written to again, together. Of packed chunks these may lie in several regions.
 */
#pragma once

#include "image/chunk_plan.hpp"
#include "image/remote_memory.hpp"

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

    /* Of the plan of a process that stands still, whose jobs are all packed, or none; it
     * outlives this. size: bytes of a granule, a multiple of the page size. */
    GranuleMap(const ChunkPlan &plan, std::size_t size);

    std::size_t size() const { return size_; }
    std::size_t count() const { return first_.back(); }

    /* Those of a job: from the first up to, without it, the second. */
    std::pair<Index, Index> of(const ChunkJob &job) const;
    /* Those with a page in the range, likewise. */
    std::pair<Index, Index> within(const ckpt_range &range) const;
    /* The one with a page that the plan wants, or, if it is not packed, that lies between
     * two such ones. */
    std::optional<Index> find(std::uint64_t page) const;

    /* Of its job in the plan. */
    std::size_t number(Index granule) const;
    /* Where it starts in its chunk, bytes; and in the process. */
    std::size_t offset(Index granule) const;
    std::uint64_t start(Index granule) const;
    /* Of neighbours in a chunk, from the first up to, without it, the second: from the first
     * to the last page that the plan may want; of packed ones, the pages that it wants. */
    PageRanges content(Index first, Index end) const;
    PageRanges content(const ChunkJob &job) const;
    /* Whether the plan wants any page of it that lies in the range. */
    bool has_wanted(Index granule, const ckpt_range &range) const;
    /* Reads neighbours in a chunk, from the first on, as they are in the chunk; zeros where
     * the plan wants nothing. Throws Error. */
    void read(const RemoteMemory &memory, Index first, std::span<std::byte> part) const;

  private:
    const ChunkJob &job(Index granule) const;
    std::size_t number(const ChunkJob &job) const;
    std::span<const ckpt_range> runs(const ChunkJob &job) const;
    ckpt_range extent(const ChunkJob &job) const;
    PageRanges packed_pages(const ChunkJob &job, std::uint64_t from, std::uint64_t to) const;
    Index packed_granule(std::size_t run, std::uint64_t address) const;
    std::pair<Index, Index> packed_within(const ckpt_range &range) const;

    const ChunkPlan &plan_;
    const std::size_t size_;
    std::vector<Index> first_; /* by job, and one more: how many there are */
    const bool is_packed_;
    std::vector<std::uint64_t> offsets_; /* if packed, by run: where it is in its chunk */
};

} // namespace ckpt
