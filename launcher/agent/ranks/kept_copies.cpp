/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_copies.cpp - copies of the checkpoint under way, and of the one before it.
 */
#include "agent/ranks/kept_copies.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt
{

void KeptCopies::propose(const std::vector<StoppedRank> &ranks)
{
    proposed_.clear();
    for (const StoppedRank &rank : ranks) {
        if (rank.process.copy == nullptr) {
            proposed_.clear();
            return;
        }
        proposed_[rank.rank] = {rank.process.copy, rank.process.snapshot};
    }
    CKPT_INVARIANT(proposed_.size() == ranks.size());
}

void KeptCopies::commit(std::uint64_t number)
{
    kept_ = std::exchange(proposed_, {});
    twins_.clear();
    number_ = number;
}

void KeptCopies::drop()
{
    proposed_.clear();
    kept_.clear();
    twins_.clear();
}

KeptCopies::ByRank KeptCopies::take()
{
    proposed_.clear();
    return std::exchange(twins_.empty() ? kept_ : twins_, {});
}

bool KeptCopies::is_complete(int rank_count) const
{
    CKPT_EXPECT(rank_count > 0);
    return std::ssize(kept_) == rank_count &&
           std::ranges::all_of(kept_, [](const auto &entry) {
               return entry.second.process->is_alive();
           });
}

KeptCopies::ByRank twins_of(const KeptCopies::ByRank &copies)
{
    KeptCopies::ByRank twins;

    for (const auto &[rank, copy] : copies) {
        twins[rank] = {copy.process->twin(), copy.snapshot};
    }
    return twins;
}

} // namespace ckpt
