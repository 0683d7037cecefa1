/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freezer.cpp - copies of ranks that stand still.
 */
#include "agent/freezer.hpp"

#include <utility>

namespace ckpt
{

void Freezer::ask(const Ranks &ranks, const std::function<bool(int)> &order, Then then)
{
    auto question = std::make_shared<Question>(ranks, 0, std::move(then));

    for (const StoppedRank &stopped : ranks) {
        if (order(stopped.rank)) {
            asked_[stopped.rank] = question;
            question->unanswered++;
        }
    }
    if (question->unanswered == 0) {
        question->then(question->ranks);
    }
}

void Freezer::answered(int rank, const ckpt_message &message, Fd connection)
{
    auto found = asked_.find(rank);

    if (found == asked_.end()) {
        return; /* the checkpoint was given up meanwhile */
    }
    std::shared_ptr<Question> question = std::move(found->second);
    asked_.erase(found);
    for (StoppedRank &stopped : question->ranks) {
        if (stopped.rank != rank) {
            continue;
        }
        if (message.arg[0] != 0 && connection) {
            stopped.process.copy = std::make_shared<FrozenCopy>(
                static_cast<pid_t>(message.arg[0]), std::move(connection));
        } else {
            stopped.process.why_no_copy = message.text;
        }
    }
    if (--question->unanswered == 0) {
        question->then(question->ranks);
    }
}

} // namespace ckpt
