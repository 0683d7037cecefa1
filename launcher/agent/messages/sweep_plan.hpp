/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_plan.hpp - the agents that sweep the message counts of a job, and their addresses
 * (docs/protocol.md, section 9).
 */
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ckpt
{

struct SweepPlan {
    struct Member {
        std::string host;
        std::string address;                    /* PeerAddress::place() */
        std::vector<std::pair<int, int>> ranks; /* runs: first, last */

        int rank_count() const;
        bool operator==(const Member &) const = default;
    };

    std::vector<Member> members;      /* the nodes, in their order */
    std::vector<std::uint32_t> sides; /* of the nodes' mesh */
    std::uint32_t self = 0;           /* index of the member that gets this copy */

    int rank_count() const;
    bool operator==(const SweepPlan &) const = default;
};

nlohmann::json to_frame(const SweepPlan &plan);
/* Throws nlohmann::json::exception, or Error for an invalid plan. */
SweepPlan sweep_plan_from(const nlohmann::json &json);

} // namespace ckpt
