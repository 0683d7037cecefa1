/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unprotected.cpp - since when a job's periodic checkpoints fail, and the reports about it.
 */
#include "agent/ranks/unprotected.hpp"

#include "common/invariant.hpp"

#include <utility>

namespace ckpt
{

void Unprotected::failed(Time now, const std::string &why)
{
    since_ = since_.value_or(now);
    why_ = why;
    failures_++;
}

void Unprotected::committed()
{
    since_.reset();
    failures_ = 0;
}

void Unprotected::under_way(Time since, Time now, Duration interval)
{
    if (!since_ && now >= since + interval) {
        failed(since, "a checkpoint takes longer than the interval");
    }
}

std::optional<Unprotected::News> Unprotected::news(Time now, Duration interval)
{
    CKPT_INVARIANT(since_.has_value() == (failures_ > 0));
    if (!since_) {
        told_overdue_ = false;
        return std::exchange(told_, false) ? std::optional(News{}) : std::nullopt;
    }
    const bool is_overdue = failures_ > 1 && now >= *since_ + interval;
    if (told_ && (told_overdue_ || !is_overdue)) {
        return std::nullopt;
    }
    told_ = true;
    told_overdue_ = is_overdue;
    return News{true, is_overdue, why_};
}

} // namespace ckpt
