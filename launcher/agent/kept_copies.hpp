/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_copies.hpp - the newest independent checkpoint of each rank of this node: a frozen
 * copy of its process (KEPT, ckpt/wire.h).
 */
#pragma once

#include "agent/rank_session.hpp"
#include "image/frozen_copy.hpp"

#include "ckpt/wire.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ckpt
{

struct KeptCopy {
    std::shared_ptr<const FrozenCopy> process; /* ends with the last of these */
    std::uint64_t snapshot = 0; /* address of its ckpt_snapshot */
    std::uint64_t number = 0;
    std::uint64_t interval = 0;
    std::uint64_t epoch = 0; /* of the rank's last cut before that */
    PeerCounts counts;       /* its messages then */
};

class KeptCopies
{
  public:
    /* KEPT has come from a rank, with its end of the connection to the copy. The one before
     * ends. Throws Refused for what is no such message. */
    void keep(const RankSession &rank, const ckpt_message &message, Fd connection);
    void forget(int rank) { copies_.erase(rank); }

    /* Null: there is none. */
    const KeptCopy *find(int rank) const;
    /* Copies of the rank that live on: also older ones, while they are read. */
    int count(int rank) const;

  private:
    std::map<int, KeptCopy> copies_; /* by rank */
    std::map<int, std::vector<std::weak_ptr<const FrozenCopy>>> made_; /* likewise */
};

} // namespace ckpt
