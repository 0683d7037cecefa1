/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_clients.cpp - clients that wait because ranks refuse to be saved at present.
 */
#include "agent/coordinator/held_clients.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace ckpt
{

using std::chrono::steady_clock;

HeldClients::HeldClients(int rank_count, std::chrono::nanoseconds longest, Hooks hooks)
    : rank_count_(rank_count), longest_(longest), hooks_(std::move(hooks))
{
    CKPT_EXPECT(rank_count > 0);
}

void HeldClients::hold(Requests clients, Time now)
{
    CKPT_EXPECT(request_.any());
    if (since_ == Time()) {
        since_ = now;
        spdlog::info("the checkpoint waits: {}", request_.reason().text());
    }
    request_.hold(now);
    clients_ = std::move(clients);
    if (is_holding()) {
        hooks_.safe_point(request_.safe_point());
        tell();
    }
}

void HeldClients::add(const CheckpointRequest &client)
{
    CKPT_EXPECT(is_holding());
    clients_.push_back(client);
    tell();
}

bool HeldClients::withdraw(ClientId client)
{
    return std::erase_if(clients_, [client](const CheckpointRequest &waiting) {
               return waiting.client == client;
           }) > 0 &&
           !is_holding();
}

HeldClients::Requests HeldClients::take()
{
    return std::exchange(clients_, {});
}

void HeldClients::end()
{
    request_.end();
    if (std::exchange(since_, {}) != Time()) {
        hooks_.safe_point(CKPT_HELD_OVER);
    }
}

bool HeldClients::rank_said(int rank, const ckpt_message &message, std::uint64_t epoch)
{
    switch (message.type) {
    case CKPT_MSG_ALLOWED:
        if (request_.allowed(rank, message) && is_holding()) {
            tell();
        }
        return true;
    case CKPT_MSG_HOLD_BLOCKED:
        if (request_.stuck(rank, message) && is_holding()) {
            hooks_.safe_point(request_.safe_point());
        }
        return true;
    case CKPT_MSG_REFUSED:
        if (message.as.refused.for_now != 0 && message.epoch == epoch) {
            request_.refused(rank, message);
        }
        return false;
    default:
        return false;
    }
}

void HeldClients::look(const RankPages &pages, Time now)
{
    for (const auto &[rank, why] : request_.ranks()) {
        if (request_.inside(rank, pages.clocks(rank), now)) {
            hooks_.safe_point(request_.safe_point());
            return;
        }
    }
}

Refusal HeldClients::overdue(Time now) const
{
    if (now - since_ < longest_) {
        return {};
    }
    const std::chrono::duration<double> longest = longest_;
    return request_.reason().after(
        fmt::format("not done after {}: ", format_seconds(longest.count())));
}

/* Tells the clients why they wait. */
void HeldClients::tell() const
{
    CKPT_INVARIANT(std::ssize(request_.ranks()) <= rank_count_);
    control::Reply reply;

    reply.event = "progress";
    reply.progress.phase = "held";
    reply.progress.waits_for = request_.reason().text();
    reply.progress.rank_count = rank_count_;
    reply.progress.ranks_done = rank_count_ - static_cast<int>(request_.ranks().size());
    reply.progress.seconds = std::chrono::duration<double>(steady_clock::now() - since_).count();
    for (const CheckpointRequest &client : clients_) {
        hooks_.answer(client, reply);
    }
}

} // namespace ckpt
