/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * granule_map.hpp - divides the chunks of a plan into granules. The pages of a granule are
 * copied, and become writable again, together. In packed chunks they may lie in several
 * regions.
 */
#pragma once

#include "image/memory/chunk_plan.hpp"
#include "image/memory/remote_memory.hpp"

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
    using Index = std::size_t; /* from 0, by ascending address */

    /* `plan` is for a stopped process, and outlives this object. Either all of its jobs are
     * packed or none. size: bytes of a granule, a multiple of the page size. */
    GranuleMap(const ChunkPlan &plan, std::size_t size);

    std::size_t size() const { return size_; }
    std::size_t count() const { return first_.back(); }

    /* Returns the granules of a job: the first, and one past the last. */
    std::pair<Index, Index> of(const ChunkJob &job) const;
    /* Returns the granules with a page in the range, in the same form. */
    std::pair<Index, Index> within(const ckpt_range &range) const;
    /* Returns the granule of a page that the plan wants. In a chunk that is not packed, also
     * of a page that lies between two wanted pages. */
    std::optional<Index> find(std::uint64_t page) const;

    /* Returns the index of the granule's job in the plan. */
    std::size_t number(Index granule) const;
    /* Return where the granule starts: in bytes from the start of its chunk, and as an
     * address in the process. */
    std::size_t offset(Index granule) const;
    std::uint64_t start(Index granule) const;
    /* Returns the content of granules [first, end) of one chunk. Packed chunk: the pages
     * that the plan wants; otherwise, the range from the first to the last page that the
     * plan may want. */
    PageRanges content(Index first, Index end) const;
    PageRanges content(const ChunkJob &job) const;
    /* Whether the plan wants any page of the granule that lies in the range. */
    bool has_wanted(Index granule, const ckpt_range &range) const;
    /* Reads adjacent granules of a chunk, beginning with `first`, in the chunk's layout.
     * Pages that the plan does not want read as zeros. Throws Error. */
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
    std::vector<Index> first_; /* by job, plus a final element: the total count */
    const bool is_packed_;
    std::vector<std::uint64_t> offsets_; /* if packed, by run: offset in its chunk */
};

} // namespace ckpt
