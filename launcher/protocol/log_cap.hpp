/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_cap.hpp - when all ranks are to be saved because some take no checkpoints of themselves
 * although others' logs are too full of what they would need (Sultan 2004, section 4.5;
 * docs/windows.md, section 4). Without I/O, like cut_protocol.hpp.
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

    /* For ranks that have been asked. One that makes calls at all takes its checkpoint within
     * a fraction of this. */
    static constexpr Duration patience = std::chrono::seconds(5);
    /* Between two checkpoints of all at most, if ranks are asked in vain all the time. */
    static constexpr Duration longest_pause = std::chrono::minutes(10);

    /* What the page tells now. Context, as of all these: normal. */
    void look(const IndependentState &state, Time now);

    /* Whether all are to be saved now. `last`: when that was done or tried last, for any
     * reason, or the job began. Never while a rank is replayed. */
    bool is_due(Time now, Time last) const;

    /* It has been begun: the next pause is twice as long, until nobody is waited for. */
    void begun();

    /* Who has been asked and has not taken a checkpoint since. */
    const std::vector<int> &asked() const { return asked_; }

  private:
    std::vector<int> asked_;
    std::optional<Time> since_; /* when somebody was first asked in vain */
    Duration pause_ = patience;
    bool is_replaying_ = false;
};

} // namespace ckpt
