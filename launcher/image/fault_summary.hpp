/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_summary.hpp - how long writes of the program had to wait while it was saved behind
 * write protection (cll).
 */
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace ckpt
{

/* Writes that had to wait. */
struct FaultTimes {
    std::uint64_t pool_waits = 0; /* of them, for a place in the pool */
    std::vector<float> seconds;   /* each, from when the agent heard of it */

    void add(const FaultTimes &others);
};

/* Of several nodes: counts are sums; times are those of the node where they are longest. */
struct FaultSummary {
    std::uint64_t count = 0;
    std::uint64_t pool_waits = 0;
    /* Seconds: half of them, 99 and 99.9 in a hundred, all were served in this time. */
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
