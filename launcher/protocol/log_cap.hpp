/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_cap.hpp - decides when all ranks are saved to limit the logs (Sultan 2004, section 4.5;
 * docs/windows.md, section 4). The reason is that some ranks take no independent checkpoint
 * although logs of other ranks are full of data for their replay. Without I/O, like
 * cut_protocol.hpp.
 */
#pragma once

#include "protocol/replayability.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace ckpt
{

class LogCap
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    /* How long requested ranks have. A rank that makes any MPI calls takes its checkpoint within
     * a fraction of this. */
    static constexpr Duration shortest_pause = std::chrono::seconds(5);
    /* Longest time between two such global checkpoints, if ranks never take the requested ones. */
    static constexpr Duration longest_pause = std::chrono::minutes(10);

    /* Takes the present content of the page. Context, for all functions: normal. */
    void look(const IndependentState &state, Time now);

    /* Whether all ranks should be saved now. `last`: when the latest global checkpoint ended or
     * was tried, for any reason, or when the job began. Never true while a rank is replayed. */
    bool is_due(Time now, Time last) const;

    /* The global checkpoint was begun: doubles the next pause. The pause is reset when no
     * requested checkpoint is outstanding. */
    void begun();

    /* Ranks that were asked for a checkpoint and have not taken one since. */
    const std::vector<int> &asked() const { return asked_; }

  private:
    std::vector<int> asked_;
    std::optional<Time> since_; /* since when a requested checkpoint is outstanding */
    Duration pause_ = shortest_pause;
    bool is_replaying_ = false;
};

} // namespace ckpt
