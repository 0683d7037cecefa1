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
#include <string>
#include <utility>
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

    /* is_wanted: copies are kept at all. only_with_room: copies that would take too much memory, or
     * that were of no use before, are not kept. */
    KeptCopies(bool is_wanted, bool only_with_room)
        : is_wanted_(is_wanted), only_with_room_(only_with_room) {}

    /* These ranks are about to be copied or saved in another way: decides whether copies of them
     * are to be kept. */
    void choose(const std::vector<StoppedRank> &ranks);
    /* The checkpoint that begins has no copies to keep. why: for why_none() */
    void decline(const std::string &why);
    /* The decision for the checkpoint under way. */
    bool are_chosen() const { return are_chosen_; }
    /* Why no copies of the newest checkpoint are kept although they are wanted; "": not known. */
    const std::string &why_none() const { return why_none_; }

    /* These ranks are about to be saved. Copies of them, if all have one and they are chosen, are
     * kept when the checkpoint is committed. */
    void propose(const std::vector<StoppedRank> &ranks);
    /* The checkpoint under way has failed. */
    void withdraw() { proposed_.clear(); }
    /* Copies of this program's ranks cannot become the ranks. */
    void are_of_no_use(const std::string &why);
    /* The checkpoint is committed. Its copies replace those that were kept. */
    void commit(std::uint64_t number);
    /* Ends all copies, except those that others hold. why: for why_none() */
    void drop(const std::string &why);

    /* The copies that stay until the next checkpoint. */
    const ByRank &kept() const { return kept_; }
    /* Copies of kept(): they are taken first. */
    void add_twins(ByRank twins) { twins_ = std::move(twins); }
    /* Returns copies that are about to become ranks: the twins, or without them those that were
     * kept. Then none is left. */
    ByRank take();

    /* Returns the twins, which are to stand; nothing if there are none. */
    ByRank take_twins() { return std::exchange(twins_, {}); }

    /* The checkpoint that the kept copies belong to; 0: none are kept. */
    std::uint64_t number() const { return kept_.empty() ? 0 : number_; }
    /* Whether there is a living copy of each rank of a job with so many ranks. */
    bool is_complete(int rank_count) const;

  private:
    const bool is_wanted_;
    const bool only_with_room_;
    bool are_chosen_ = false;
    std::string no_use_; /* why copies are of no use for this program; "": they can be */
    std::string why_none_;
    ByRank proposed_;
    ByRank kept_;
    ByRank twins_;
    std::uint64_t number_ = 0;
};

/* Returns copies of the copies. Waits for them. Throws Error. */
KeptCopies::ByRank twins_of(const KeptCopies::ByRank &copies);

} // namespace ckpt
