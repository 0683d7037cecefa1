/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cow_snapshots.hpp - the newest independent checkpoint of each rank of this node: a frozen copy of
 * its process (COW_SNAPSHOT, ckpt/wire.h).
 */
#pragma once

#include "agent/ranks/rank_session.hpp"
#include "image/memory/frozen_copy.hpp"

#include "ckpt/wire.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ckpt
{

struct CowSnapshot {
    std::shared_ptr<const FrozenCopy> process; /* the process ends with its last reference */
    std::uint64_t snapshot = 0;                /* address of its ckpt_snapshot */
    std::uint64_t number = 0;
    std::uint64_t interval = 0;
    std::uint64_t epoch = 0; /* of the rank's latest cut before the copy */
    PeerCounts counts;       /* the rank's message counts at that time */
};

class CowSnapshots
{
  public:
    /* A rank has sent COW_SNAPSHOT. connection: our end of the connection to the copy. The rank's
     * previous copy ends. Throws Rejected for an invalid message. */
    void keep(const RankSession &rank, const ckpt_message &message, Fd connection);
    void forget(int rank) { copies_.erase(rank); }
    void forget_all() { copies_.clear(); }

    /* Returns null if the rank has no copy. */
    const CowSnapshot *find(int rank) const;
    /* Number of the rank's copies that are alive, including older copies that are still being
     * read. */
    int count(int rank) const;

  private:
    std::map<int, CowSnapshot> copies_;                                /* by rank */
    std::map<int, std::vector<std::weak_ptr<const FrozenCopy>>> made_; /* by rank */
};

} // namespace ckpt
