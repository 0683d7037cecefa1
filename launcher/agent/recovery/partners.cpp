/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * partners.cpp - orders, reports and fences between the nodes of a job.
 */
#include "agent/recovery/partners.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ckpt
{

/* ---- The coordinator's side -------------------------------------------------------------- */

std::uint64_t Partners::add(const std::string &host, Send send)
{
    CKPT_EXPECT(!follows_);
    lose(host);
    others_[host] = {++connections_, std::move(send), {}};
    return connections_;
}

void Partners::remove(const std::string &host, std::uint64_t connection)
{
    const auto other = others_.find(host);

    if (other != others_.end() && other->second.connection == connection) {
        lose(host);
    }
}

void Partners::lose(const std::string &host)
{
    if (others_.erase(host) == 0) {
        return;
    }
    for (const auto &[name, nodes] : worlds_) {
        const auto node = std::ranges::find(nodes, host, &world::WorldNode::host);
        if (node != nodes.end()) {
            for (const auto &failed :
                 fences_.lose(name, static_cast<std::size_t>(node - nodes.begin()))) {
                answer(failed);
            }
        }
    }
    hooks_.lost(host);
}

void Partners::received(const std::string &host, const nlohmann::json &frame)
{
    const RecoveryMessage message = recovery_message_from(frame);
    const auto other = others_.find(host);

    if (other == others_.end()) {
        fail("{} takes no part in recoveries", host);
    }
    if (const auto *part = std::get_if<world::FencePart>(&message)) {
        take_part(host, *part);
    } else if (const auto *report = std::get_if<RecoveryReport>(&message)) {
        const bool is_of_round = report->step != RecoveryReport::Step::died &&
                                 report->step != RecoveryReport::Step::returned &&
                                 report->step != RecoveryReport::Step::aborted;
        if (is_of_round && report->round != round_) {
            return;
        }
        if (is_of_round) {
            other->second.report = *report;
        }
        hooks_.reported(host, *report);
    } else {
        fail("{} gives an order to the coordinator", host);
    }
}

std::string Partners::obstacle(const std::vector<world::WorldNode> &nodes) const
{
    for (const world::WorldNode &node : nodes) {
        if (node.host != host_ && !others_.contains(node.host)) {
            return fmt::format("the agent of {} is not connected", node.host);
        }
    }
    return {};
}

void Partners::order(RecoveryOrder order)
{
    CKPT_EXPECT(!follows_);
    order.round = ++round_;
    const nlohmann::json frame = recovery_frame(order);
    for (auto &[host, other] : others_) {
        other.report.reset();
        other.send(frame);
    }
}

void Partners::order_if_leading(RecoveryOrder order)
{
    if (!follows_) {
        this->order(std::move(order));
    }
}

bool Partners::all_have(RecoveryReport::Step step) const
{
    return std::ranges::all_of(others_, [&](const auto &entry) {
        return entry.second.report && entry.second.report->step == step;
    });
}

int Partners::shells() const
{
    return std::accumulate(others_.begin(), others_.end(), 0, [](int sum, const auto &entry) {
        return sum + (entry.second.report ? entry.second.report->shells : 0);
    });
}

void Partners::registers(const world::World &world)
{
    CKPT_EXPECT(!follows_);
    if (world.nodes.size() == 1) {
        return; /* its fences never leave the node */
    }
    fences_.add(world);
    worlds_[world.name] = world.nodes;
    for (const auto &[host, other] : others_) {
        other.send(recovery_frame(NextWorldOrder{world.name, world.nodes}));
    }
}

void Partners::forget(const std::string &name)
{
    fences_.forget(name);
    worlds_.erase(name);
}

/* ---- The other side ------------------------------------------------------------------------- */

void Partners::follow()
{
    CKPT_EXPECT(others_.empty());
    follows_ = true;
}

void Partners::connected(Send to_coordinator)
{
    CKPT_EXPECT(follows_);
    to_coordinator_ = std::move(to_coordinator);
}

void Partners::disconnected()
{
    to_coordinator_ = nullptr;
    hooks_.lost("");
}

void Partners::received(const nlohmann::json &frame)
{
    const RecoveryMessage message = recovery_message_from(frame);

    CKPT_EXPECT(follows_);
    if (const auto *order = std::get_if<RecoveryOrder>(&message)) {
        round_ = order->round;
        hooks_.ordered(*order);
    } else if (const auto *world = std::get_if<NextWorldOrder>(&message)) {
        hooks_.next_world(*world);
    } else if (const auto *result = std::get_if<world::FenceResult>(&message)) {
        hooks_.fence_over(*result);
    } else {
        fail("the coordinator sends a report");
    }
}

void Partners::report(RecoveryReport report) const
{
    report.round = round_;
    if (to_coordinator_) { /* otherwise the recovery is over */
        to_coordinator_(recovery_frame(report));
    }
}

/* ---- Fences ---------------------------------------------------------------------------------- */

void Partners::fence(const world::FencePart &part)
{
    if (!follows_) {
        take_part(host_, part);
    } else if (to_coordinator_) {
        to_coordinator_(recovery_frame(part));
    } else {
        hooks_.fence_over({part.id, false, {}});
    }
}

/* A wrong part cannot be answered to anybody else. */
void Partners::take_part(const std::string &host, const world::FencePart &part)
{
    const auto known = worlds_.find(part.id.name);
    try {
        if (known == worlds_.end()) {
            fail("a fence in world {}, which is not known", part.id.name);
        }
        const auto &nodes = known->second;
        const auto node = std::ranges::find(nodes, host, &world::WorldNode::host);
        if (auto over = fences_.take(static_cast<std::size_t>(node - nodes.begin()), part)) {
            answer(*over);
        }
    } catch (const Error &problem) {
        spdlog::warn("{}: {}", host, problem.what());
    }
}

void Partners::answer(const world::FenceGathering::Answer &answer)
{
    const auto &nodes = worlds_.at(answer.result.id.name);
    const nlohmann::json frame = recovery_frame(answer.result);

    for (std::size_t node : answer.nodes) {
        const std::string &host = nodes.at(node).host;
        const auto other = others_.find(host);
        if (host == host_) {
            hooks_.fence_over(answer.result);
        } else if (other != others_.end()) {
            other->second.send(frame);
        }
    }
}

} // namespace ckpt
