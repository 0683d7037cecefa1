/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_request.hpp - a request for a checkpoint that some ranks refuse at present. It decides when
 * to try again, and at which safe point the ranks have to wait for it (docs/user-defined.md).
 * Without I/O, like cut_protocol.hpp.
 */
#pragma once

#include "common/refusal.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

class HeldRequest
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    /* A rank that is inside a collective for this time counts as waiting there for a rank that
     * waits at a safe point. */
    static constexpr Duration timeout = std::chrono::milliseconds(200);

    /* An attempt begins: no rank has refused yet. */
    void begin();
    /* A rank's answer to the latest attempt, also after that was given up. */
    void refused(int rank, const ckpt_message &message);
    /* A rank no longer refuses. Returns whether it did before. */
    bool allowed(int rank, const ckpt_message &message);
    /* A rank waits, perhaps for a rank that waits at a safe point. Returns true if waiting ranks
     * have to go on, to the new safe_point(). */
    bool stuck(int rank, const ckpt_message &message);
    /* The same for collectives, by the clocks in the rank's page. */
    bool inside(int rank, const std::vector<ckpt_clock> &clocks, Time now);
    void exited(int rank);

    /* Whether a rank has refused the latest attempt. */
    bool any() const { return refused_; }
    /* The request waits from now on. */
    void hold(Time now);
    /* Time of the next attempt; Time::max() while a rank refuses. */
    Time due() const;
    /* The number of the safe point to wait at. Each rank counts its own. */
    std::uint64_t safe_point() const { return safe_point_; }
    /* Ranks that refuse, and their reasons. */
    const std::map<int, Refusal> &ranks() const { return ranks_; }
    /* The refusing ranks and the reason of the first; time-limit if none refuses at present. */
    Refusal reason() const;
    /* The request is over, with any result. */
    void end();

  private:
    struct Inside {
        std::uint64_t entered = 0;
        Time since;
    };

    bool go_on(int rank, std::uint64_t reached);

    bool refused_ = false;
    std::map<int, Refusal> ranks_;
    std::map<std::pair<int, std::uint64_t>, Inside> inside_; /* by rank and clock */
    /* largest number of safe points that any rank has reached */
    std::uint64_t reached_ = 0;
    std::uint64_t safe_point_ = 0;
    Duration pause_{};
    Time due_{};
};

} // namespace ckpt
