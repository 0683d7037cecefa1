/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sharing_source.hpp - memory of a rank without the pages that are stored already, for
 * this rank or another one of the file.
 *
 * Such a page is read as zeros, which a codec makes nothing of; whole chunks of them are
 * not stored. The image tells where its content is.
 */
#pragma once

#include "image/chunk_source.hpp"
#include "image/page_sharing.hpp"
#include "image/rank_image.hpp"

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
    /* Of private memory of this rank. All that is referred to outlives this. */
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

    /* When all has been read: what is elsewhere, by rising address. */
    std::vector<SharedRun> take_shared();

  private:
    void share(std::uint64_t address, std::span<std::byte> pages);

    ChunkSource &source_;
    PageSharing &sharing_;
    const std::vector<ckpt_region> &regions_;
    const int rank_;
    std::mutex mutex_; /* of what follows */
    std::vector<SharedRun> shared_; /* of one page each */
};

} // namespace ckpt
