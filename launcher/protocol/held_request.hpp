/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_request.hpp - a request for a checkpoint that some ranks do not want just now:
 * when to begin anew, and at which of their safe points the ranks are to stay for it
 * (docs/user-defined.md). Without I/O, like cut_protocol.hpp.
 */
#pragma once

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

    /* How long a rank may be inside a collective before it is taken to wait there for
     * one that stays. */
    static constexpr Duration patience = std::chrono::milliseconds(200);

    /* A checkpoint is tried: nobody has refused yet. */
    void begin();
    /* What ranks say of the last try, also after it was given up. */
    void refused(int rank, const ckpt_message &message);
    /* 1 if that was news. */
    bool allowed(int rank, const ckpt_message &message);
    /* A rank waits, perhaps for one that stays at a safe point. True if those that stay
     * are to go on: to safe_point(). */
    bool stuck(int rank, const ckpt_message &message);
    /* The same of collectives, from the rank's page. */
    bool inside(int rank, const std::vector<ckpt_clock> &clocks, Time now);
    void gone(int rank);

    /* Somebody has refused the last try. */
    bool any() const { return refused_; }
    /* It waits from now on. */
    void hold(Time now);
    /* When to try again; Time::max() while a rank refuses. */
    Time due() const;
    /* The safe point to stay at, counted by each rank. */
    std::uint64_t safe_point() const { return safe_point_; }
    /* Ranks that refuse. */
    const std::map<int, std::string> &ranks() const { return ranks_; }
    /* For the user: who holds it, and why. */
    std::string text() const;
    /* The request is over, whatever became of it. */
    void end();

  private:
    struct Inside {
        std::uint64_t entered = 0;
        Time since;
    };

    bool go_on(int rank, std::uint64_t reached);

    bool refused_ = false;
    std::map<int, std::string> ranks_;
    std::map<std::pair<int, std::uint64_t>, Inside> inside_; /* rank, clock */
    std::uint64_t reached_ = 0; /* the most safe points of any rank */
    std::uint64_t safe_point_ = 0;
    Duration pause_{};
    Time due_{};
};

} // namespace ckpt
