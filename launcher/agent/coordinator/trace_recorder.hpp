/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_recorder.hpp - records the messages of the coordinator during one
 * checkpoint, with times, for the file trace.json.
 *
 * It does not know the protocols: the coordinator reports what it sends,
 * receives and sees. Memory is bounded, and an event allocates no memory once
 * the table of events has grown. Runs on the event loop's thread.
 */
#pragma once

#include "agent/links/clock_probe.hpp"
#include "agent/messages/rank_seen.hpp"
#include "image/store/checkpoint_cost.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "protocol/cut/cut_protocol.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt
{

class TraceRecorder
{
  public:
    using Time = std::chrono::steady_clock::time_point; /* CLOCK_MONOTONIC */

    static constexpr std::size_t default_limit = 1u << 16;
    /* The recorder keeps all events of this number of ranks as long as
     * possible. */
    static constexpr int most_drawn_ranks = 64;

    /* Keeps at most `limit` events, which is at least 2. If there are more,
     * it first drops the events of every second rank, and repeats that down
     * to most_drawn_ranks. Then it drops the older half of the most frequent
     * kind. */
    explicit TraceRecorder(std::size_t limit = default_limit);

    /* A checkpoint is requested; forgets the previous one. `nodes` have the
     * ranks from 0 to rank_count - 1; `protocol` is "sns", "cl" or "ns". */
    void begin(std::string_view protocol, int rank_count,
               std::vector<TraceNode> nodes, Time now);
    /* Sets the protocol that the checkpoint has used in the end. */
    void set_protocol(std::string_view protocol) { trace_.protocol = protocol; }
    /* Sets why earlier attempts of the same request were given up. */
    void set_refusals(std::vector<Refusal> refusals) { trace_.refusals = std::move(refusals); }
    /* Sets the sides of the mesh of nodes in the sweep. */
    void set_sides(std::vector<std::uint32_t> sides);

    /* The coordinator sends to a rank, or receives from it. */
    void ordered(const action::Send &order, Time now);
    void answered(int rank, const ckpt_message &message, Time now);
    /* Whether a rank is stopped now; only changes are recorded. */
    void stands_still(int rank, bool still, Time now);
    /* A rank's memory is read. Its cut counts as the time of its latest
     * READY, unless the rank itself reports a better one. */
    void captured(int rank, Time now);
    void written(const std::string &host, Time now);
    void commit(Time now);

    /* Takes an event that a rank or a node's agent has recorded: cut,
     * marker, sweep, logged, stopped, resumed. `at` and `arrived` are
     * CLOCK_MONOTONIC of that node in nanoseconds. The two reports of a
     * marker or sweep message, by its sender and its receiver, become one
     * event. */
    void seen_on(int node, TraceEvent event);

    /* Takes all events that a rank has recorded. clock: offset of its node's
     * clock. */
    void seen_by(int rank, const RankSeen &seen, const ClockOffset &clock);

    /* Returns the cost of the checkpoint so far. */
    CheckpointCost cost() const;
    /* Returns the sorted trace of the checkpoint. The recorder is empty
     * afterwards. */
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
    /* By rank: since when it is stopped, or unknown_time; and how long it
     * has been stopped in all. */
    std::vector<std::int64_t> still_since_;
    std::vector<std::int64_t> stood_still_;
    std::vector<std::int64_t> last_ready_; /* by rank; unknown_time: the rank
                                              has reported its cut */
    std::vector<char> captured_;
};

} // namespace ckpt
