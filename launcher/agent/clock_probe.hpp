/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_probe.hpp - how far another node's CLOCK_MONOTONIC is from ours: asked
 * for, and taken to be read in the middle of the round trip (Cristian 1989). The
 * shortest of some round trips tells it best.
 */
#pragma once

#include <chrono>
#include <cstdint>

namespace ckpt
{

/* Nanoseconds to add to the other clock for ours, and how wrong that may be. */
struct ClockOffset {
    std::int64_t nanoseconds = 0;
    std::int64_t error = 0;
};

/* CLOCK_MONOTONIC, nanoseconds. */
inline std::int64_t monotonic_nanoseconds()
{
    return std::chrono::nanoseconds(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

class ClockProbe
{
  public:
    static constexpr int rounds = 4;

    /* A question is sent; what was known holds until the first answer. */
    void begin()
    {
        left_ = rounds;
        is_new_ = true;
    }

    /* The answer `there`, which is here `now`, to the question of `asked`. True
     * if there is to be another question. */
    bool answered(std::int64_t asked, std::int64_t there, std::int64_t now)
    {
        const std::int64_t error = (now - asked + 1) / 2;

        if (is_new_ || error < best_.error) {
            best_ = {asked + (now - asked) / 2 - there, error};
        }
        is_new_ = false;
        return --left_ > 0;
    }

    const ClockOffset &best() const { return best_; }

  private:
    ClockOffset best_;
    int left_ = 0;
    bool is_new_ = true;
};

} // namespace ckpt
