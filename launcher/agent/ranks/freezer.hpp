/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freezer.hpp - orders stopped ranks to make copies of themselves (FREEZE, FROZEN). The ranks go on
 * while the copies are read.
 */
#pragma once

#include "agent/ranks/node_image.hpp"
#include "agent/ranks/rank_question.hpp"
#include "common/fd.hpp"

#include "ckpt/wire.h"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ckpt
{

class Freezer
{
  public:
    using Ranks = std::vector<StoppedRank>;
    using Then = std::function<void(const Ranks &)>;

    /* use: of the copies. `order` sends FREEZE to a rank and returns false if that is not possible.
     * When all ranks that got it have answered, this calls `then` with the ranks and their copies.
     */
    void ask(const Ranks &ranks, FrozenCopy::Use use, const std::function<bool(int)> &order,
             Then then);

    /* A rank has sent FROZEN. connection: our end of the connection to the copy. The copy ends
     * when the connection is closed, which happens at once if no answer is awaited. */
    void answered(int rank, const ckpt_message &message, Fd connection);

    /* As in RankQuestion. */
    void forget(int rank);
    void clear();

  private:
    FrozenCopy::Use use_ = FrozenCopy::Use::read_once;
    RankQuestion question_;
    std::map<int, std::shared_ptr<Ranks>> ranks_; /* by rank */
};

} // namespace ckpt
