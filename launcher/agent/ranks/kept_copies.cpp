/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_copies.cpp - copies of the checkpoint under way, and of the one before it.
 */
#include "agent/ranks/kept_copies.hpp"

#include "common/durations.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "common/memory.hpp"
#include "image/memory/copy_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

void KeptCopies::choose(const std::vector<StoppedRank> &ranks)
{
    std::vector<pid_t> processes;

    for (const StoppedRank &rank : ranks) {
        processes.push_back(rank.process.pid);
    }
    why_none_ = only_with_room_ ? no_use_ : std::string();
    if (is_wanted_ && only_with_room_ && why_none_.empty()) {
        const std::uint64_t bytes = memory_of_copies(processes);
        const std::uint64_t available = available_memory();
        if (fault_strikes("memory-for-copies") ||
            !has_room_for_copies(bytes, !kept_.empty(), available)) {
            why_none_ = fmt::format("they may take {} each time, and {} are available",
                                    format_bytes(bytes), format_bytes(available));
        }
    }
    are_chosen_ = is_wanted_ && why_none_.empty();
}

void KeptCopies::decline(const std::string &why)
{
    are_chosen_ = false;
    why_none_ = is_wanted_ ? why : std::string();
}

void KeptCopies::propose(const std::vector<StoppedRank> &ranks)
{
    proposed_.clear();
    if (!are_chosen_) {
        return;
    }
    for (const StoppedRank &rank : ranks) {
        if (rank.process.copy == nullptr) {
            proposed_.clear();
            why_none_ = fmt::format("rank {} was not copied: {}", rank.rank,
                                    rank.process.why_no_copy);
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

void KeptCopies::are_of_no_use(const std::string &why)
{
    proposed_.clear();
    no_use_ = why;
    why_none_ = why;
}

void KeptCopies::drop(const std::string &why)
{
    why_none_ = why;
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
