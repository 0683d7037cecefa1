/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cow_snapshots.cpp - the newest independent checkpoint of each rank.
 */
#include "agent/ranks/cow_snapshots.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"

#include <sys/types.h>

#include <algorithm>
#include <utility>

namespace ckpt
{

void CowSnapshots::keep(const RankSession &rank, const ckpt_message &message, Fd connection)
{
    const ckpt_msg_cow_snapshot &kept = message.as.cow_snapshot;

    if (!connection) {
        reject(Rejection::malformed,
               "rank {}: COW_SNAPSHOT {} of process {} without a connection to it", rank.rank(),
               kept.number, kept.pid);
    }
    CowSnapshot copy;
    copy.process = std::make_shared<FrozenCopy>(static_cast<pid_t>(kept.pid),
                                                std::move(connection));
    copy.snapshot = kept.snapshot;
    copy.number = kept.number;
    copy.interval = kept.interval;
    copy.epoch = rank.cut().epoch;
    copy.counts = rank.page().counts();
    CKPT_INVARIANT(std::ssize(copy.counts.sent) == rank.rank_count());
    CKPT_INVARIANT(copy.counts.received.size() == copy.counts.sent.size());
    auto &made = made_[rank.rank()];
    std::erase_if(made, [](const auto &one) { return one.expired(); });
    made.push_back(copy.process);
    copies_[rank.rank()] = std::move(copy);
}

int CowSnapshots::count(int rank) const
{
    auto found = made_.find(rank);
    auto lives = [](const auto &one) { return !one.expired(); };
    return found == made_.end()
               ? 0
               : static_cast<int>(std::ranges::count_if(found->second, lives));
}

const CowSnapshot *CowSnapshots::find(int rank) const
{
    auto found = copies_.find(rank);
    return found == copies_.end() ? nullptr : &found->second;
}

} // namespace ckpt
