/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stall_watch.hpp - for how long nothing has moved while ranks are aligned.
 */
#pragma once

#include "protocol/cut/collective_targets.hpp"
#include "protocol/cut/rank_state.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace ckpt
{

class StallWatch
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    /* Forgets what it has seen. */
    void forget() { fingerprint_.clear(); }
    /* Nothing has moved since now. Ranks are asked where they are after `stall_timeout`. */
    void begin(Time now, Duration stall_timeout);
    /* Whether a rank or a clock has changed since the last call. */
    bool has_moved(const std::vector<RankState> &ranks, const Clocks &clocks);
    Duration still(Time now) const { return now - since_; }
    /* Whether running ranks are to be asked now where they are; each time less soon. `longest`: of
     * the times between two questions. */
    bool is_time_to_ask(Time now, Duration longest);

  private:
    std::vector<std::uint64_t> fingerprint_; /* of everything that can change */
    Time since_{};
    Duration ask_after_{}; /* time after since_ */
};

/*
 * Whether a rank may go on without the help of ranks that are at a gate. A rank inside a collective
 * leaves it without help when every member has entered. A rank with several threads reports that it
 * waits when its threads in MPI do.
 */
bool can_move(const RankState &rank, const RankClocks &clocks, const FewestEntered &fewest);

} // namespace ckpt
