/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tier_copy.hpp - finds the parts of a checkpoint that the slow tier lacks, and commits the
 * checkpoint there once all pieces have been copied (image/pieces/piece_copy.hpp).
 */
#pragma once

#include "image/store/manifest.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace ckpt
{

/* One checkpoint that is being copied. */
struct TierCopy {
    std::uint64_t number = 0;
    std::filesystem::path from, to; /* directories of the checkpoint in both tiers */
    Manifest manifest;
    std::vector<Piece> pieces; /* pieces that are missing in `to` */

    /* Commits after all pieces are there: copies the trace if there is one, writes the
     * manifest, and removes files that the manifest does not name. Throws Error; then the
     * previous state of `to` remains. */
    void publish() const;
};

/*
 * Plans the copies, in order, that make checkpoint `number` complete in the slow tier; its
 * bases come first. A piece that was folded since it was copied is copied again. fast,
 * slow: directories of the job. Throws Error if the checkpoint is not complete in the fast
 * tier, or if a different one has its number in the slow tier. Does not check whether the
 * pieces are in the fast tier, because they may be on other nodes.
 */
std::vector<TierCopy> plan_tier_copies(const std::filesystem::path &fast,
                                       const std::filesystem::path &slow,
                                       std::uint64_t number);

/* After a failure: removes the directory of a checkpoint unless it has a manifest. */
void remove_unpublished(const std::filesystem::path &directory) noexcept;

/* Returns the checkpoint and its bases, direct and indirect, as far as there are
 * manifests. */
std::set<std::uint64_t> chain_of(const std::filesystem::path &job, std::uint64_t number);

} // namespace ckpt
