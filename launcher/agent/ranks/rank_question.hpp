/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_question.hpp - asks several ranks of this node a question, and goes on when all of them have
 * answered.
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

    /* `order` sends the question to a rank and returns false if there is nothing to ask. `then`
     * is called when all ranks that got the question have answered: at once if there are none. */
    void ask(const std::vector<int> &ranks, const std::function<bool(int)> &order,
             Then then);

    /* A rank has answered. If the answer is still awaited, this calls `note`, and `then` after
     * the last answer. */
    void answered(int rank, const std::function<void()> &note);

    /* The rank is gone: the question that waits for it is dropped, and its `then` is not called. */
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
