/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_policy.hpp - whether a job that has failed is started again, and when.
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
        int restarts = 10; /* in all */
        /* From one checkpoint, after failures that the program may have brought about, or
         * that repeat in one place. */
        int tries = 2;
        /* Before a second restart from one checkpoint; doubled each time. */
        Duration back_off = std::chrono::seconds(1);
        Duration longest = std::chrono::seconds(60);
        /* Without a checkpoint, from the beginning, if the failure came from outside. */
        bool fresh_start = true;
    };

    struct Decision {
        bool restart = false;
        Duration delay{};    /* before that */
        std::string why_not; /* else */
    };

    explicit RestartPolicy(Limits limits) : limits_(limits) {}

    /* Of a launch that has failed. checkpoint: the number of the one it would be restarted
     * from; 0: the beginning. */
    Decision after(const Failure &failure, std::uint64_t checkpoint);

    /* So many it has been. */
    int restarts() const { return restarts_; }
    const Limits &limits() const { return limits_; }

  private:
    std::string obstacle_to_fresh_start(const Failure &failure) const;
    bool repeats(const Failure &failure);
    bool gets_on(const Failure &failure, std::uint64_t checkpoint);

    Limits limits_;
    int restarts_ = 0;
    std::uint64_t last_ = UINT64_MAX; /* restarted from this one ... */
    int from_last_ = 0;               /* so often */
    int own_ = 0; /* failures since, of the program itself ... */
    std::map<std::string, int> places_; /* and in one place */
    std::map<std::string, std::uint64_t> reached_; /* by place: intervals, when the rank there
                                                      was salvaged last */
};

} // namespace ckpt
