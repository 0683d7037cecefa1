/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_state.hpp - what the coordinator knows of one rank in the checkpoint under way.
 */
#pragma once

#include "protocol/rank_cut.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

namespace ckpt
{

struct RankState {
    using Time = std::chrono::steady_clock::time_point;
    enum class Presence {
        unseen,
        here,
        finished,
        gone
    };

    /* A rank that is connected and of which only its cut is known. */
    static RankState fresh(const RankCutWatch &watch);

    bool waits() const { return place == CKPT_PLACE_GATE || place == CKPT_PLACE_WAIT; }
    bool inside_unclocked() const;
    /* Takes the place from a REPORT or STOPPED. Returns for how many seconds the rank stood still
     * if it goes on now, or 0. */
    double set_place(const ckpt_msg_report &report, Time now);
    /* The rank waits for the coordinator's next message. */
    void hold(Time now);
    /* The rank goes on. Returns for how many seconds it stood still, or 0. */
    double let_continue(Time now);

    Presence presence = Presence::unseen;
    /* enum ckpt_place, or 0: it runs at an unknown place. */
    std::uint32_t place = 0;
    std::uint32_t slot = 0;
    std::uint32_t flags = 0;
    bool holds = false;      /* waits for the coordinator's next message */
    bool reported = false;   /* has answered REQUEST */
    bool answered = false;   /* has answered the message of this phase */
    bool left_early = false; /* has left its collective after it had stopped inside */
    bool captured = false;
    bool shared = false;    /* goes on together with all other ranks that share memory */
    bool leads_out = false; /* has a connection to another process */
    bool resumed = false;   /* has got RESUME after it was captured */
    std::uint64_t snapshot = 0;
    std::optional<Time> still_since;
    /* Gates at which a thread waits while other threads run on. Key:
     * slot; value: `entered` of that clock. An entry is valid until
     * `entered` changes. */
    std::map<std::uint32_t, std::uint64_t> gates;
    std::uint64_t needs = 0;      /* CKPT_NEEDS_* */
    bool has_sent = false;        /* has sent messages since the last cut */
    bool synchronous = false;     /* uses synchronous sends */
    std::optional<Time> asked_at; /* when it got CUT */
    RankCutWatch watch;
    std::uint64_t used = 0;     /* channels that it had used at its cut */
    std::uint64_t complete = 0; /* channels to it that have delivered all messages */
};

} // namespace ckpt
