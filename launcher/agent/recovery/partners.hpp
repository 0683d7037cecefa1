/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partners.hpp - the other nodes of a job in its recoveries in place. The coordinator's agent
 * leads: it gives orders to all other nodes, and waits for their reports. The others follow. It
 * also carries the fences of the worlds between the nodes. Without I/O.
 *
 * Reports on an earlier order are dropped.
 */
#pragma once

#include "agent/messages/recovery_message.hpp"
#include "world/fence_gathering.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

class Partners
{
  public:
    using Send = std::function<void(const nlohmann::json &frame)>;

    struct Hooks {
        /* The coordinator orders. */
        std::function<void(const RecoveryOrder &order)> ordered;
        /* Another node reports. */
        std::function<void(const std::string &host, const RecoveryReport &report)> reported;
        /* To the coordinator: the agent of a node has gone. To the others: the coordinator has. */
        std::function<void(const std::string &host)> lost;
        /* The coordinator has named the next world. */
        std::function<void(const NextWorldOrder &order)> next_world;
        /* For the ckpt-world of this node. */
        std::function<void(const world::FenceResult &result)> fence_over;
    };

    /* host: name of this node. Context of all functions: normal, in one thread. */
    Partners(std::string host, Hooks hooks)
        : host_(std::move(host)), hooks_(std::move(hooks)) {}

    /* ---- For the coordinator ---- */

    /* The agent of another node has come. It replaces an earlier one of this node. Returns the
     * number of its connection. */
    std::uint64_t add(const std::string &host, Send send);
    /* That connection has ended. */
    void remove(const std::string &host, std::uint64_t connection);
    /* Takes a message of this node. Throws Error or nlohmann::json::exception for a wrong one. */
    void received(const std::string &host, const nlohmann::json &frame);

    bool empty() const { return others_.empty(); }
    /* Why not all of these nodes can be reached; "": they can. */
    std::string obstacle(const std::vector<world::WorldNode> &nodes) const;
    /* Begins a round. */
    void order(RecoveryOrder order);
    /* The same, if this is the coordinator's node. */
    void order_if_leading(RecoveryOrder order);
    /* Whether all other nodes have reported this step in the present round. */
    bool all_have(RecoveryReport::Step step) const;
    /* Sum of what they have reported with `ended` in this round. */
    int shells() const;
    /* This world is about to be registered on this node: the others register it, too. */
    void registers(const world::World &world);
    /* No rank is in this world any more. */
    void forget(const std::string &name);

    /* ---- For the other nodes ---- */

    /* This node follows a coordinator. Without a connection nothing is sent. */
    void follow();
    void connected(Send to_coordinator);
    void disconnected();
    void received(const nlohmann::json &frame);
    bool follows() const { return follows_; }
    /* The report is on the coordinator's last order. */
    void report(RecoveryReport report) const;

    /* ---- For all ---- */

    /* A part from this node's ckpt-world. */
    void fence(const world::FencePart &part);

  private:
    struct Other {
        std::uint64_t connection = 0;
        Send send;
        std::optional<RecoveryReport> report; /* the latest one of this round */
    };

    void lose(const std::string &host);
    void take_part(const std::string &host, const world::FencePart &part);
    void answer(const world::FenceGathering::Answer &answer);

    const std::string host_;
    Hooks hooks_;
    bool follows_ = false;
    Send to_coordinator_;                 /* empty without a connection */
    std::map<std::string, Other> others_; /* by host */
    std::uint64_t connections_ = 0;
    std::uint64_t round_ = 0;
    world::FenceGathering fences_;
    std::map<std::string, std::vector<world::WorldNode>> worlds_; /* those in fences_ */
};

} // namespace ckpt
