/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_held.cpp - messages of programs about checkpoints: a program asks for a checkpoint,
 * or asks not to be saved at present.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/invariant.hpp"

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
    for (const Waiting &asking : joint_.ask(rank, ask.number)) {
        request(asking);
    }
}

/* A rank that had to ask as well is gone or has finished. */
void Coordinator::drop_asks(const Refusal &reason)
{
    for (const Waiting &asking : joint_.drop()) {
        answer_refusal(asking, reason);
    }
}

/* ---- Programs that must not be saved at present ------------------------------ */

HeldClients::Hooks Coordinator::held_hooks()
{
    return {[this](const auto &client, const auto &reply) { answer(client, reply); },
            [this](std::uint64_t number) { tell_safe_point(number); }};
}

void Coordinator::tell_safe_point(std::uint64_t number)
{
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        places_.send({rank, CKPT_MSG_HELD, true, {.held = {number}}, {}}, epoch_);
    }
}

void Coordinator::hold(std::vector<Waiting> clients)
{
    clients.insert(clients.end(), queue_.begin(), queue_.end());
    queue_.clear();
    held_.hold(std::move(clients), steady_clock::now());
    if (!held_.is_holding()) { /* all clients have left meanwhile */
        drop_held({CKPT_REFUSAL_WITHDRAWN, "the request was withdrawn"});
    }
}

void Coordinator::tick_held(Time now)
{
    CKPT_EXPECT(held_.is_holding());
    Refusal reason = machine_.obstacle();

    if (reason.empty()) {
        reason = held_.overdue(now);
    }
    if (!reason.empty()) {
        drop_held(reason);
    } else if (now >= held_.due()) {
        start(held_.take(), now, choice_.protocol());
    } else {
        held_.look(places_, now);
    }
}

/* The request is over, with any result. */
void Coordinator::end_held()
{
    held_.end();
    statistics_.request_is_over();
}

/* Drops the request; the job goes on. */
void Coordinator::drop_held(const Refusal &reason)
{
    spdlog::warn("the checkpoint that waited is off: {}", reason.text());
    end_held();
    statistics_.count_failed(reason);
    statistics_.count_refusal(reason);
    last_end_ = steady_clock::now();
    for (const Waiting &waiting : held_.take()) {
        answer_refusal(waiting, reason);
    }
    worker_.reply([this] { start_waiting(); });
}

} // namespace ckpt
