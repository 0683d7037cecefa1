/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_summary.hpp - statistics of how long the program's writes were blocked by write
 * protection while it was saved (snapshot method cll).
 */
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace ckpt
{

/* Writes that were blocked. */
struct FaultTimes {
    std::uint64_t pool_waits = 0; /* how many of them waited for space in the pool */
    std::vector<float> seconds;   /* blocked time of each, as seen by the agent */

    void add(const FaultTimes &others);
};

/* Of one or several nodes: counts are sums; each time is the maximum over the nodes. */
struct FaultSummary {
    std::uint64_t count = 0;
    std::uint64_t pool_waits = 0;
    /* Seconds: the 50th, 99th and 99.9th percentile, and the maximum. */
    double p50 = 0;
    double p99 = 0;
    double p999 = 0;
    double most = 0;

    void add(const FaultSummary &others);
};

FaultSummary summarize(FaultTimes times);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(FaultSummary, count, pool_waits, p50, p99,
                                                p999, most)

} // namespace ckpt
