/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_question.hpp - asks several ranks of this node something, and goes on when all
 * that were asked have answered.
 */
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ckpt
{

class RankQuestion
{
  public:
    using Then = std::function<void()>;

    /* `order` sends the question to a rank; false if there is nothing to be asked of it.
     * `then` is called when all that got it have answered: at once if none did. */
    void ask(const std::vector<int> &ranks, const std::function<bool(int)> &order,
             Then then);

    /* A rank has answered. If somebody waits for that still, `note` is called, and then
     * perhaps `then`. */
    void answered(int rank, const std::function<void()> &note);

    /* The rank is gone: who waits for it waits no more, and is not called. */
    void forget(int rank) { asked_.erase(rank); }
    /* The checkpoint is over. */
    void clear() { asked_.clear(); }

  private:
    struct Waiting {
        std::size_t unanswered;
        Then then;
    };

    std::map<int, std::shared_ptr<Waiting>> asked_; /* by rank */
};

} // namespace ckpt
