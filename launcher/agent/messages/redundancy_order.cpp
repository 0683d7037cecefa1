/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_order.cpp - orders to write redundancy, as frames.
 */
#include "agent/messages/redundancy_order.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

namespace ckpt
{

nlohmann::json to_frame(const RedundancyOrder &order)
{
    /* redundancy_order_from() refuses anything else */
    CKPT_EXPECT(order.self < order.places.size());
    CKPT_EXPECT(order.places.size() == order.group.members.size());
    return {{"type", "write_redundancy"},
            {"number", order.number},
            {"directory", order.directory.string()},
            {"group", order.group},
            {"self", order.self},
            {"places", order.places}};
}

RedundancyOrder redundancy_order_from(const nlohmann::json &frame)
{
    RedundancyOrder order;

    frame.at("number").get_to(order.number);
    order.directory = frame.at("directory").get<std::string>();
    frame.at("group").get_to(order.group);
    frame.at("self").get_to(order.self);
    frame.at("places").get_to(order.places);
    if (order.places.size() != order.group.members.size() ||
        order.self >= order.places.size()) {
        fail("an order for member {} of {}, with {} places", order.self,
             order.group.members.size(), order.places.size());
    }
    return order;
}

} // namespace ckpt
