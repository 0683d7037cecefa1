/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * freezer.cpp - copies of stopped ranks.
 */
#include "agent/ranks/freezer.hpp"

#include "common/invariant.hpp"

#include <utility>

namespace ckpt
{

void Freezer::ask(const Ranks &ranks, FrozenCopy::Use use,
                  const std::function<bool(int)> &order, Then then)
{
    use_ = use;
    auto answers = std::make_shared<Ranks>(ranks);
    std::vector<int> numbers;

    for (const StoppedRank &stopped : ranks) {
        numbers.push_back(stopped.rank);
        ranks_[stopped.rank] = answers;
    }
    question_.ask(numbers, order, [answers, then = std::move(then)] { then(*answers); });
}

void Freezer::answered(int rank, const ckpt_message &message, Fd connection)
{
    question_.answered(rank, [&] {
        CKPT_INVARIANT(ranks_.contains(rank)); /* as it was asked */
        for (StoppedRank &stopped : *ranks_[rank]) {
            if (stopped.rank != rank) {
                continue;
            }
            if (message.as.frozen.pid != 0 && connection) {
                stopped.process.copy = std::make_shared<FrozenCopy>(
                    static_cast<pid_t>(message.as.frozen.pid), std::move(connection), use_);
            } else {
                stopped.process.why_no_copy = message.text;
            }
        }
        ranks_.erase(rank);
    });
}

void Freezer::forget(int rank)
{
    question_.forget(rank);
    ranks_.erase(rank);
}

void Freezer::clear()
{
    question_.clear();
    ranks_.clear();
}

} // namespace ckpt
