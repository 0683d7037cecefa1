/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_copies.hpp - the frozen copies of this node's ranks that belong to the newest checkpoint. If
 * a rank dies, they can become the ranks (docs/recovery.md).
 *
 * There are two copies of each rank, so that one is left when the other one has become the rank.
 */
#pragma once

#include "agent/ranks/node_image.hpp"
#include "image/memory/frozen_copy.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace ckpt
{

struct KeptCopy {
    std::shared_ptr<const FrozenCopy> process; /* the process ends with its last reference */
    std::uint64_t snapshot = 0;                /* address of its ckpt_snapshot */
};

class KeptCopies
{
  public:
    using ByRank = std::map<int, KeptCopy>;

    /* These ranks are about to be saved. Copies of them, if all have one, are kept when the
     * checkpoint is committed. */
    void propose(const std::vector<StoppedRank> &ranks);
    /* The checkpoint under way has failed, or has no copies. */
    void withdraw() { proposed_.clear(); }
    /* The checkpoint is committed. Its copies replace those that were kept. */
    void commit(std::uint64_t number);
    /* Ends all copies, except those that others hold. */
    void drop();

    /* The copies that stay until the next checkpoint. */
    const ByRank &kept() const { return kept_; }
    /* Copies of kept(): they are taken first. */
    void add_twins(ByRank twins) { twins_ = std::move(twins); }
    /* Returns copies that are about to become ranks: the twins, or without them those that were
     * kept. Then none is left. */
    ByRank take();

    /* The checkpoint that the kept copies belong to; 0: none are kept. */
    std::uint64_t number() const { return kept_.empty() ? 0 : number_; }
    /* Whether there is a living copy of each rank of a job with so many ranks. */
    bool is_complete(int rank_count) const;

  private:
    ByRank proposed_;
    ByRank kept_;
    ByRank twins_;
    std::uint64_t number_ = 0;
};

/* Returns copies of the copies. Waits for them. Throws Error. */
KeptCopies::ByRank twins_of(const KeptCopies::ByRank &copies);

} // namespace ckpt
