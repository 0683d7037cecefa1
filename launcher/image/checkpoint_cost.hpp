/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_cost.hpp - what a checkpoint took: the messages of the protocol,
 * those of the application that crossed the cut, and how long ranks stood still
 * (docs/format.md, section 6).
 */
#pragma once

#include "image/fault_summary.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace ckpt
{

/* Of all ranks, seconds. */
struct StopTimes {
    double least = 0;
    double median = 0; /* the upper one of two */
    double most = 0;
};

struct CheckpointCost {
    /* Between the coordinator and ranks, by purpose
     * (protocol/message_purpose.hpp). */
    std::map<std::string, std::uint64_t> messages;
    /* Ordered pairs of ranks with messages before the cut; each, but for that of
     * a rank with itself, needs a marker in Chandy-Lamport. Not known of
     * the other protocols: 0. */
    std::uint64_t channels = 0;
    std::uint64_t markers = 0;
    std::uint64_t first_use_markers = 0;
    std::uint64_t sweep = 0;
    std::uint64_t cross_cut_messages = 0; /* logged */
    std::uint64_t cross_cut_bytes = 0;
    StopTimes stood_still; /* of each rank, in all */
    FaultSummary faults;   /* afterwards */
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StopTimes, least, median, most)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CheckpointCost, messages,
                                                channels, markers,
                                                first_use_markers, sweep,
                                                cross_cut_messages,
                                                cross_cut_bytes, stood_still, faults)

} // namespace ckpt
