/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_held.cpp - messages of programs about checkpoints: a program asks for a checkpoint,
 * or asks not to be saved at present.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

} // namespace

/* ---- Programs that ask for a checkpoint ------------------------------------- */

/* A checkpoint that all ranks have to ask for starts when the last rank asks. */
void Coordinator::rank_asks(int rank, const ckpt_message &message)
{
    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    spdlog::info("the program of rank {} asks for a checkpoint", rank);
    const ckpt_msg_ask &ask = message.as.ask;

    if (ask.of_all == 0) {
        request({0, Then::go_on, rank, ask.number});
        return;
    }
    asked_by_all_[rank] = ask.number;
    if (std::ssize(asked_by_all_) < machine_.rank_count()) {
        return;
    }
    for (const auto &[asking, number] : std::exchange(asked_by_all_, {})) {
        request({0, Then::go_on, asking, number});
    }
}

/* A rank that had to ask as well is gone or has finished. */
void Coordinator::drop_asks(const Refusal &reason)
{
    for (const auto &[asking, number] : std::exchange(asked_by_all_, {})) {
        answer_refusal({0, Then::go_on, asking, number}, reason);
    }
}

/* ---- Programs that must not be saved at present ------------------------------ */

/* Returns whether the message is handled here and does not concern the cut. */
bool Coordinator::rank_of_held(int rank, const ckpt_message &message)
{
    switch (message.type) {
    case CKPT_MSG_ASK:
        rank_asks(rank, message);
        return true;
    case CKPT_MSG_ALLOWED:
        if (held_.allowed(rank, message) && is_holding()) {
            tell_held();
        }
        return true;
    case CKPT_MSG_HOLD_BLOCKED:
        if (held_.stuck(rank, message) && is_holding()) {
            tell_safe_point(held_.safe_point());
        }
        return true;
    case CKPT_MSG_REFUSED:
        if (message.as.refused.for_now != 0 && message.epoch == epoch_) {
            held_.refused(rank, message);
        }
        return false;
    default:
        return false;
    }
}

/* Sends to all ranks: a rank that could be saved may wait at a safe point for the others. */
void Coordinator::tell_safe_point(std::uint64_t number)
{
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        if (Node *node = where_[rank]) {
            node->send({rank, CKPT_MSG_HELD, true, {.held = {number}}, {}}, epoch_);
        }
    }
}

void Coordinator::hold(std::vector<Waiting> clients)
{
    CKPT_EXPECT(held_.any());
    const Time now = steady_clock::now();

    if (held_since_ == Time()) {
        held_since_ = now;
        spdlog::info("the checkpoint waits: {}", held_.reason().text());
    }
    held_.hold(now);
    held_clients_ = std::move(clients);
    held_clients_.insert(held_clients_.end(), queue_.begin(), queue_.end());
    queue_.clear();
    if (held_clients_.empty()) { /* all clients have left meanwhile */
        drop_held({CKPT_REFUSAL_WITHDRAWN, "the request was withdrawn"});
        return;
    }
    tell_safe_point(held_.safe_point());
    tell_held();
}

void Coordinator::tell_held()
{
    CKPT_INVARIANT(std::ssize(held_.ranks()) <= machine_.rank_count());
    control::Reply reply;

    reply.event = "progress";
    reply.progress.phase = "held";
    reply.progress.waits_for = held_.reason().text();
    reply.progress.rank_count = machine_.rank_count();
    reply.progress.ranks_done =
        machine_.rank_count() - static_cast<int>(held_.ranks().size());
    reply.progress.seconds =
        std::chrono::duration<double>(steady_clock::now() - held_since_).count();
    for (const Waiting &waiting : held_clients_) {
        answer(waiting, reply);
    }
}

void Coordinator::tick_held(Time now)
{
    CKPT_EXPECT(is_holding());
    Refusal reason = machine_.obstacle();

    if (reason.empty() && now - held_since_ >= settings_.timeout) {
        const std::chrono::duration<double> longest = settings_.timeout;
        reason = held_.reason().after(
            fmt::format("not done after {}: ", format_seconds(longest.count())));
    }
    if (!reason.empty()) {
        drop_held(reason);
        return;
    }
    if (now >= held_.due()) {
        start(std::exchange(held_clients_, {}), now, choice_.protocol());
        return;
    }
    for (const auto &[rank, why] : held_.ranks()) {
        if (held_.inside(rank, clocks(rank), now)) {
            tell_safe_point(held_.safe_point());
            return;
        }
    }
}

/* The request is over, with any result: no rank waits at a safe point for it any more. */
void Coordinator::end_held()
{
    held_.end();
    statistics_.request_is_over();
    if (std::exchange(held_since_, {}) != Time()) {
        tell_safe_point(CKPT_HELD_OVER);
    }
}

/* Drops the request; the job goes on. */
void Coordinator::drop_held(const Refusal &reason)
{
    spdlog::warn("the checkpoint that waited is off: {}", reason.text());
    end_held();
    statistics_.count_failed(reason);
    statistics_.count_refusal(reason);
    last_end_ = steady_clock::now();
    for (const Waiting &waiting : std::exchange(held_clients_, {})) {
        answer_refusal(waiting, reason);
    }
    worker_.reply([this] { start_waiting(); });
}

} // namespace ckpt
