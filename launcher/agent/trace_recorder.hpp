/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_recorder.hpp - keeps what passes through the coordinator during one
 * checkpoint, with times, for the file trace.json.
 *
 * It does not know the protocols: it is told what is sent, answered and seen.
 * Memory is bounded, and an event costs no allocation once the table of events
 * has grown. On the event loop's thread.
 */
#pragma once

#include "agent/clock_probe.hpp"
#include "agent/rank_seen.hpp"
#include "image/checkpoint_cost.hpp"
#include "image/checkpoint_trace.hpp"
#include "protocol/cut_protocol.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

class TraceRecorder
{
  public:
    using Time = std::chrono::steady_clock::time_point; /* CLOCK_MONOTONIC */

    static constexpr std::size_t default_limit = 1u << 16;
    /* Of so many ranks all events are kept as long as possible. */
    static constexpr int most_drawn_ranks = 64;

    /* Keeps at most `limit` events, which is at least 2. When there are more,
     * first every second rank loses its events, and again, down to
     * most_drawn_ranks; then the older half of the most frequent kind goes. */
    explicit TraceRecorder(std::size_t limit = default_limit);

    /* A checkpoint is asked for; forgets the last one. `nodes` have the ranks
     * from 0 to rank_count - 1; `protocol` is "sns", "cl" or "ns". */
    void begin(std::string_view protocol, int rank_count,
               std::vector<TraceNode> nodes, Time now);
    /* What it has turned out to be. */
    void set_protocol(std::string_view protocol) { trace_.protocol = protocol; }
    /* The sides of the mesh that the nodes sweep. */
    void set_sides(std::vector<std::uint32_t> sides);

    /* The coordinator sends to a rank, or hears from one. */
    void ordered(const action::Send &order, Time now);
    void answered(int rank, const ckpt_message &message, Time now);
    /* Whether a rank stands still now; only changes are kept. */
    void stands_still(int rank, bool still, Time now);
    /* A rank's memory is read; its cut was where it said READY last, unless it
     * tells better itself. */
    void captured(int rank, Time now);
    void written(const std::string &host, Time now);
    void commit(Time now);

    /* What a rank or the agent of a node has seen itself: cut, marker, sweep,
     * logged, stopped, resumed. `at` and `arrived` are CLOCK_MONOTONIC of that
     * node in nanoseconds. What sender and receiver tell each of the same
     * marker or sweep message becomes one event. */
    void seen_on(int node, TraceEvent event);

    /* All that a rank has seen, with the difference of its node's clock. */
    void seen_by(int rank, const RankSeen &seen, const ClockOffset &clock);

    /* What the checkpoint has taken until now. */
    CheckpointCost cost() const;
    /* The trace of the checkpoint, sorted; the recorder is empty after it. */
    CheckpointTrace finish(const std::string &job, std::uint64_t number);

  private:
    std::int64_t since_request(Time time) const;
    bool is_kept(const TraceEvent &event) const;
    void count(const TraceEvent &event);
    void count_unkept(const RankSeen &seen);
    void add_cuts();
    void add(const TraceEvent &event);
    void make_room();
    void thin_ranks();
    void drop_most_frequent();
    void join_halves();

    std::size_t limit_;
    Time requested_;
    CheckpointTrace trace_;
    /* By rank. Since when it stands still, or unknown; and how long it has. */
    std::vector<std::int64_t> still_since_;
    std::vector<std::int64_t> stood_still_;
    std::vector<std::int64_t> last_ready_; /* unknown: cut is told */
    std::vector<char> captured_;
};

} // namespace ckpt
