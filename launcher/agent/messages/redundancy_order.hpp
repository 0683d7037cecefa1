/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_order.hpp - the coordinator's order to a node to write data from which lost pieces of
 * other nodes can be rebuilt (docs/levels.md).
 */
#pragma once

#include "redundancy/group.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt
{

struct RedundancyOrder {
    std::uint64_t number = 0;        /* of the checkpoint */
    std::filesystem::path directory; /* the same on each node */
    redundancy::Group group;
    std::size_t self = 0;            /* index of the member that gets this order */
    std::vector<std::string> places; /* addresses of the members' block servers */
};

nlohmann::json to_frame(const RedundancyOrder &order);
/* Throws Error or nlohmann::json::exception for an invalid frame. */
RedundancyOrder redundancy_order_from(const nlohmann::json &frame);

} // namespace ckpt
