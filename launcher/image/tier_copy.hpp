/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tier_copy.hpp - what the slow tier lacks of a checkpoint, and how it becomes whole there
 * when all pieces have been copied (image/piece_copy.hpp).
 */
#pragma once

#include "image/manifest.hpp"

#include <cstdint>
#include <filesystem>
#include <set>
#include <vector>

namespace ckpt
{

/* One checkpoint on its way. */
struct TierCopy {
    std::uint64_t number = 0;
    std::filesystem::path from, to; /* directories of the checkpoint */
    Manifest manifest;
    std::vector<Piece> pieces; /* that are not there yet */

    /* When they are: copies the trace, if there is one, writes the manifest, and removes
     * what it does not name. Throws Error; then what was there is there. */
    void publish() const;
};

/*
 * What is to be copied, in this order, until a checkpoint of the job is whole in the slow
 * tier: those that it was made on top of come before it. A piece that has been folded since
 * it was copied is copied again.
 * fast, slow: directories of the job. Throws Error if the checkpoint is not whole in the
 * fast tier, or if another one has its number in the slow one. Pieces may be on other
 * nodes: nobody looks for them.
 */
std::vector<TierCopy> plan_tier_copies(const std::filesystem::path &fast,
                                       const std::filesystem::path &slow,
                                       std::uint64_t number);

/* After a failure: removes the directory of a checkpoint unless that has a manifest. */
void remove_unpublished(const std::filesystem::path &directory) noexcept;

/* The checkpoint, and all that it was made on top of: as far as there are manifests. */
std::set<std::uint64_t> chain_of(const std::filesystem::path &job, std::uint64_t number);

} // namespace ckpt
