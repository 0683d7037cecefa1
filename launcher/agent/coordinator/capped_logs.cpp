/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * capped_logs.cpp - global checkpoints that limit the size of message logs.
 */
#include "agent/coordinator/capped_logs.hpp"

#include "common/durations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace ckpt
{

bool CappedLogs::is_due(const IndependentState &state, Time now, Time last)
{
    cap_.look(state, now);
    return cap_.is_due(now, last);
}

CheckpointRequest CappedLogs::begin()
{
    spdlog::warn("ranks {} did not take the requested independent checkpoint; taking a global one",
                 fmt::join(cap_.asked(), ", "));
    cap_.begun();
    capped_.ranks = cap_.asked();
    return {.client = 0, .is_for_cap = true};
}

void CappedLogs::committed(const std::vector<CheckpointRequest> &requests, std::uint64_t number)
{
    if (std::ranges::any_of(requests, &CheckpointRequest::is_for_cap)) {
        capped_.taken++;
        capped_.number = number;
        capped_.at = static_cast<double>(now_nanoseconds()) * 1e-9;
    }
}

} // namespace ckpt
