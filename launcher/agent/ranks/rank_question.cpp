/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_question.cpp - a question to several ranks.
 */
#include "agent/ranks/rank_question.hpp"

#include "common/invariant.hpp"

#include <utility>

namespace ckpt
{

void RankQuestion::ask(const std::vector<int> &ranks,
                       const std::function<bool(int)> &order, Then then)
{
    auto waiting = std::make_shared<Waiting>(0, std::move(then));

    for (int rank : ranks) {
        if (order(rank)) {
            CKPT_INVARIANT(!asked_.contains(rank)); /* one question at a time */
            asked_[rank] = waiting;
            waiting->unanswered++;
        }
    }
    if (waiting->unanswered == 0) {
        waiting->then();
    }
}

void RankQuestion::answered(int rank, const std::function<void()> &note)
{
    auto found = asked_.find(rank);

    if (found == asked_.end()) {
        return; /* the checkpoint was given up meanwhile */
    }
    std::shared_ptr<Waiting> waiting = std::move(found->second);
    asked_.erase(found);
    note();
    CKPT_INVARIANT(waiting->unanswered > 0);
    if (--waiting->unanswered == 0) {
        waiting->then();
    }
}

} // namespace ckpt
