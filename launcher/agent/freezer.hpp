/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freezer.hpp - has copies made of ranks that stand still (FREEZE, FROZEN), so that they
 * go on while the copies are read.
 */
#pragma once

#include "agent/node_image.hpp"
#include "agent/rank_question.hpp"
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

    /* `order` sends FREEZE to a rank; false if that is not possible. When all that got it
     * have answered, `then` is called with the ranks and their copies. */
    void ask(const Ranks &ranks, const std::function<bool(int)> &order, Then then);

    /* FROZEN has come from a rank, with its end of the connection to the copy, which ends
     * if nobody waits for it any more. */
    void answered(int rank, const ckpt_message &message, Fd connection);

    /* As of RankQuestion. */
    void forget(int rank);
    void clear();

  private:
    RankQuestion question_;
    std::map<int, std::shared_ptr<Ranks>> ranks_; /* by each of them */
};

} // namespace ckpt
