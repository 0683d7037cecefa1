/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_order.hpp - what the coordinator has a node write, so that pieces of other
 * nodes can be made again when these are lost (docs/levels.md).
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
    std::size_t self = 0;            /* which member this is for */
    std::vector<std::string> places; /* of the members' block servers */
};

nlohmann::json to_frame(const RedundancyOrder &order);
/* Throws Error or nlohmann::json::exception for what is none. */
RedundancyOrder redundancy_order_from(const nlohmann::json &frame);

} // namespace ckpt
