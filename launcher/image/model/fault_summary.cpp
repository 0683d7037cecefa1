/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_summary.cpp - statistics of how long the program's writes were blocked.
 */
#include "config.h"
#include "image/model/fault_summary.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ckpt
{

void FaultTimes::add(const FaultTimes &others)
{
    pool_waits += others.pool_waits;
    seconds.insert(seconds.end(), others.seconds.begin(), others.seconds.end());
}

void FaultSummary::add(const FaultSummary &others)
{
    count += others.count;
    pool_waits += others.pool_waits;
    p50 = std::max(p50, others.p50);
    p99 = std::max(p99, others.p99);
    p999 = std::max(p999, others.p999);
    most = std::max(most, others.most);
}

FaultSummary summarize(FaultTimes times)
{
    FaultSummary summary;
    std::ranges::sort(times.seconds);
    auto within = [&times](double part) -> double {
        auto rank = std::ceil(part * static_cast<double>(times.seconds.size()));
        return times.seconds[static_cast<std::size_t>(rank) - 1];
    };
    summary.count = times.seconds.size();
    summary.pool_waits = times.pool_waits;
    if (summary.count > 0) {
        summary.p50 = within(0.5);
        summary.p99 = within(0.99);
        summary.p999 = within(0.999);
        summary.most = times.seconds.back();
        CKPT_INVARIANT(summary.p50 <= summary.p99 && summary.p99 <= summary.p999);
        CKPT_INVARIANT(summary.p999 <= summary.most);
    }
    return summary;
}

} // namespace ckpt
