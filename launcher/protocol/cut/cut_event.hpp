/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_event.hpp - what can happen to the coordinator's state machine: news of the ranks, messages
 * of the ranks, results of the agents, and the passing of time.
 */
#pragma once

#include "common/refusal.hpp"
#include "protocol/rank_cut.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace ckpt
{

struct CutPlan;

/* The names are those of the functions of CutProtocol, and of the messages of docs/protocol.md. */
enum class Event {
    request,
    hello,
    finalized,
    exited,
    agent_lost,
    report,
    stopped,
    drained,
    ready,
    complete,
    logged,
    refused,
    opened,
    sweep_failed,
    captured,
    written,
    committed,
    failed,
    undone,
    tick
};
inline constexpr int event_count = 20;
static_assert(event_count == static_cast<int>(Event::tick) + 1);
const char *event_name(Event event);

/* One event. Which fields have a meaning depends on its kind. Pointers are valid during the call
 * that handles the event. */
struct CutEvent {
    Event kind;
    std::chrono::steady_clock::time_point now{};
    int rank = -1;                         /* of hello to refused, and of captured */
    const ckpt_message *message = nullptr; /* of report to refused */
    /* of logged and refused: the rank was open and now is not */
    bool closes = false;
    const RankCut *known = nullptr; /* of hello */
    Refusal reason{};               /* of failed */
    std::uint64_t epoch = 0;        /* of request */
    const CutPlan *plan = nullptr;  /* of request */
};

} // namespace ckpt
