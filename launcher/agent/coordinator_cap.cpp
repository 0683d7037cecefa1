/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_cap.cpp - ranks take no checkpoints of themselves although others' logs grow
 * for them: all are saved, so that a log can be given up and no more is lost than since then.
 */
#include "agent/coordinator.hpp"

#include "common/durations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace ckpt
{

/* All ranks are here, and on one node, if there is a page. */
bool Coordinator::watches_logs() const
{
    return settings_.protocol == CutChoice::independent && last_end_;
}

/* In a salvage the survivors are about to be saved anyway. */
void Coordinator::tick_cap(Time now)
{
    if (!watches_logs() || ghost_ >= 0 || where_.front() == nullptr || !queue_.empty()) {
        return;
    }
    const auto state = where_.front()->independent();
    if (!state) {
        return;
    }
    cap_.look(*state, now);
    if (!cap_.is_due(now, *last_end_) || !machine_.obstacle().empty()) {
        return;
    }
    spdlog::warn("asked in vain for checkpoints of themselves, so that logs can be trimmed: "
                 "ranks {}; all are saved",
                 fmt::join(cap_.asked(), ", "));
    cap_.begun();
    capped_.ranks = cap_.asked();
    start({{.client = 0, .is_for_cap = true}}, now, choice_.protocol());
}

/* If that was why it was taken. */
void Coordinator::count_capped(const std::vector<Waiting> &clients, std::uint64_t number)
{
    if (std::ranges::any_of(clients, &Waiting::is_for_cap)) {
        capped_.taken++;
        capped_.number = number;
        capped_.at = static_cast<double>(now_nanoseconds()) * 1e-9;
    }
}

} // namespace ckpt
