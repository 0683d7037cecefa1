/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_watch.hpp - whether a launch has failed, and how its launcher is brought to an end
 * then. What the launchers do by themselves cannot be relied on: Open MPI 4.1 waits for ever
 * for a node that is cut off, or for a rank that was stopped; with --enable-recovery it goes
 * on without ranks that the others wait for. No I/O: events in, steps out.
 */
#pragma once

#include "supervise/failure.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace ckpt
{

class LaunchWatch
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::milliseconds;

    struct Limits {
        /* A launcher of which a rank has died ends by itself within this. */
        Duration own_end = std::chrono::seconds(5);
        /* From SIGTERM to SIGKILL. */
        Duration last_words = std::chrono::seconds(3);
        /* A rank that stands still for so long, while others run, does not go on. */
        Duration stopped = std::chrono::seconds(10);
    };

    enum class Step {
        none,
        end,  /* all ranks, and SIGTERM to the launcher */
        kill, /* SIGKILL to the launcher */
    };

    explicit LaunchWatch(Limits limits) : limits_(limits) {}
    LaunchWatch() : LaunchWatch(Limits()) {}

    /* The program, or its user, deals with ranks that end: they are no failure. */
    void tolerate_ended_ranks() { tolerant_ = true; }

    void rank_here(int rank, const std::string &host);
    /* The rank has called MPI_Finalize. */
    void rank_finished(int rank);
    /* Its process has ended. */
    void rank_ended(int rank, Time now);
    /* How; this may come later, or never. */
    void rank_status(int rank, int status);
    /* By a signal; and it goes on. */
    void rank_stopped(int rank, Time now);
    void rank_continued(int rank);
    void node_lost(const std::string &host, Time now);
    void cut_off(Time now);

    /* What is to be done now: each step once, in this order. */
    Step step(Time now);
    /* When to ask again, if nothing happens; Time::max(): never. */
    Time next_step() const;

    const std::set<std::string> &lost_nodes() const { return lost_nodes_; }
    /* The first one. */
    const std::optional<Failure> &failure() const { return failure_; }

  private:
    struct Rank {
        std::string host;
        bool is_finished = false;
        bool has_ended = false;
        std::optional<Time> stopped_since;
    };

    void fail(Failure failure, Time end_at);
    void look_at_stopped(Time now);
    bool all_are_stopped() const;

    Limits limits_;
    bool tolerant_ = false;
    std::map<int, Rank> ranks_;
    std::set<std::string> lost_nodes_;
    std::optional<Failure> failure_;
    Time end_at_ = Time::max();
    Time kill_at_ = Time::max();
};

} // namespace ckpt
