/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_policy.hpp - decides whether and when a failed job is started again.
 */
#pragma once

#include "supervise/failure.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace ckpt
{

class RestartPolicy
{
  public:
    using Duration = std::chrono::milliseconds;

    struct Limits {
        int restarts = 0; /* in all */
        /* From one checkpoint, after failures that the program may have caused or that repeat in
         * one place. */
        int tries = 2;
        /* Delay before a second restart from the same checkpoint; doubled each time. */
        Duration back_off{0};
        Duration longest = std::chrono::seconds(60);
        /* Allows a restart from the beginning after a failure from outside, if no checkpoint
         * exists. */
        bool fresh_start = true;
    };

    struct Decision {
        bool restart = false;
        Duration delay{};    /* before the restart */
        std::string why_not; /* set if `restart` is false */
    };

    /* No limit is negative. */
    explicit RestartPolicy(Limits limits);

    /* Decides after a failed launch. checkpoint: number of the checkpoint to restart from; 0:
     * the beginning. */
    Decision after(const Failure &failure, std::uint64_t checkpoint);

    /* Number of restarts so far. */
    int restarts() const { return restarts_; }
    const Limits &limits() const { return limits_; }

  private:
    std::string obstacle_to_fresh_start(const Failure &failure) const;
    bool repeats(const Failure &failure);
    bool gets_on(const Failure &failure, std::uint64_t checkpoint);

    Limits limits_;
    int restarts_ = 0;
    std::uint64_t last_ = UINT64_MAX; /* checkpoint of the latest restarts ... */
    int from_last_ = 0;               /* ... and their number */
    /* failures since then that the program may have caused ... */
    int own_ = 0;
    std::map<std::string, int> places_;            /* ... and failures per place */
    std::map<std::string, std::uint64_t> reached_; /* by place: interval of the rank there at its
                                                      latest salvage */
};

} // namespace ckpt
