/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sharing_source.hpp - memory of a rank without the pages that are stored already, for
 * this rank or another rank of the file.
 *
 * Such a page reads as zeros, which compress to almost nothing; chunks of zeros are not
 * stored at all. The image records where its content is.
 */
#pragma once

#include "image/memory/chunk_source.hpp"
#include "image/memory/page_sharing.hpp"
#include "image/model/rank_image.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace ckpt
{

class SharingSource : public ChunkSource
{
  public:
    /* For private memory of this rank. All arguments passed by reference outlive this
     * object. */
    SharingSource(ChunkSource &source, PageSharing &sharing,
                  const std::vector<ckpt_region> &regions, int rank)
        : source_(source), sharing_(sharing), regions_(regions), rank_(rank)
    {
    }

    void read(const ChunkPlan &plan, const ChunkJob &job,
              std::span<std::byte> chunk) override;
    void release(const ChunkPlan &plan, const ChunkJob &job) noexcept override
    {
        source_.release(plan, job);
    }
    std::optional<std::size_t> urgent() const override { return source_.urgent(); }
    std::size_t following() const override { return source_.following(); }

    /* Returns the pages that are stored elsewhere, by ascending address. The caller
     * calls it after the last read. */
    std::vector<SharedRun> take_shared();

  private:
    void share(std::uint64_t address, std::span<std::byte> pages);

    ChunkSource &source_;
    PageSharing &sharing_;
    const std::vector<ckpt_region> &regions_;
    const int rank_;
    std::mutex mutex_;              /* guards the following members */
    std::vector<SharedRun> shared_; /* each run has one page */
};

} // namespace ckpt
