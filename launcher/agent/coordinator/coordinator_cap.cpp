/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_cap.cpp - global checkpoints that limit the size of message logs. If ranks do not
 * take independent checkpoints although logs grow because of that, the coordinator saves all ranks.
 * Afterwards the logs can be dropped, and a failure loses only the work since that checkpoint.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/durations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace ckpt
{

/* All ranks are present, and on one node if there is a page. */
bool Coordinator::watches_logs() const
{
    return settings_.protocol == CutChoice::independent && last_end_;
}

/* During a salvage the survivors are about to be saved anyway. */
void Coordinator::tick_cap(Time now)
{
    if (!watches_logs() || proxy_ >= 0 || places_.node_of(0) == nullptr || !queue_.empty()) {
        return;
    }
    const auto state = places_.node_of(0)->independent();
    if (!state) {
        return;
    }
    cap_.look(*state, now);
    if (!cap_.is_due(now, *last_end_) || !machine_.obstacle().empty()) {
        return;
    }
    spdlog::warn("ranks {} did not take the requested independent checkpoint; taking a global one",
                 fmt::join(cap_.asked(), ", "));
    cap_.begun();
    capped_.ranks = cap_.asked();
    start({{.client = 0, .is_for_cap = true}}, now, choice_.protocol());
}

/* Counts the checkpoint if it was taken to trim logs. */
void Coordinator::count_capped(const std::vector<Waiting> &clients, std::uint64_t number)
{
    if (std::ranges::any_of(clients, &Waiting::is_for_cap)) {
        capped_.taken++;
        capped_.number = number;
        capped_.at = static_cast<double>(now_nanoseconds()) * 1e-9;
    }
}

} // namespace ckpt
