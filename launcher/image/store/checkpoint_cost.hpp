/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_cost.hpp - the cost of a checkpoint: the protocol's messages, the
 * application's messages that crossed the cut, and how long ranks were stopped
 * (docs/format.md, section 6).
 */
#pragma once

#include "image/model/fault_summary.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace ckpt
{

/* Over all ranks, in seconds. */
struct StopTimes {
    double least = 0;
    double median = 0; /* upper median */
    double most = 0;
};

struct CheckpointCost {
    /* Messages between the coordinator and ranks, by purpose
     * (protocol/message_purpose.hpp). */
    std::map<std::string, std::uint64_t> messages;
    /* Ordered pairs of ranks with messages before the cut. In Chandy-Lamport
     * each pair of two different ranks needs a marker. 0 with the other
     * protocols, which do not count channels. */
    std::uint64_t channels = 0;
    std::uint64_t markers = 0;
    std::uint64_t first_use_markers = 0;
    std::uint64_t sweep = 0;
    std::uint64_t cross_cut_messages = 0; /* written to message logs */
    std::uint64_t cross_cut_bytes = 0;
    StopTimes stood_still; /* total stop time of each rank */
    FaultSummary faults;   /* page faults after the ranks resumed */
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StopTimes, least, median, most)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CheckpointCost, messages,
                                                channels, markers,
                                                first_use_markers, sweep,
                                                cross_cut_messages,
                                                cross_cut_bytes, stood_still, faults)

} // namespace ckpt
