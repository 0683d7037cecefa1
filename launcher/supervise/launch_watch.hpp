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
#include <cstdint>
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
        /* Of one that goes on without it: until it is known how the rank has ended. */
        Duration news = std::chrono::milliseconds(500);
        /* Of one that goes on: it ends by itself when it has seen all ranks end. With SIGTERM
         * it takes a second or two. */
        Duration all_ended = std::chrono::seconds(1);
        /* From SIGTERM to SIGKILL. */
        Duration last_words = std::chrono::seconds(3);
        /* A rank that stands still for so long, while others run, does not go on. */
        Duration stopped = std::chrono::seconds(10);
        /* Ranks that live have another agent long before. */
        Duration unserved = std::chrono::seconds(10);
    };

    enum class Step {
        none,
        end,       /* all ranks */
        terminate, /* SIGTERM to the launcher */
        kill,      /* SIGKILL to the launcher */
    };

    explicit LaunchWatch(Limits limits) : limits_(limits) {}
    LaunchWatch() : LaunchWatch(Limits()) {}

    /* The program, or its user, deals with ranks that end: they are no failure. */
    void tolerate_ended_ranks() { tolerant_ = true; }

    /* The launcher goes on when a rank ends, so that the rank can be replayed: whatever it
     * would have ended for is a failure here. */
    void act_for_launcher() { acts_ = true; }

    void rank_here(int rank, const std::string &host);
    /* The rank has called MPI_Finalize. */
    void rank_finished(int rank);
    /* Its process has ended. */
    void rank_ended(int rank, Time now);
    /* How; this may come later, or never. */
    void rank_status(int rank, int status, Time now);
    /* A process of the launcher has ended badly, as is seen beside it; of this rank, or -1: it
     * was none yet. What agents tell may come later; or never, if they have died, too. */
    void process_failed(int rank, int status, Time now);
    /* The rank is gone, and the agent tries to save the others; it has, in this checkpoint; or
     * why it has not. */
    void rank_salvaging(int rank);
    void rank_salvaged(int rank, std::uint64_t number, std::uint64_t interval, Time now);
    void rank_not_salvaged(int rank, const std::string &why, Time now);
    /* The agent of these ranks has gone. */
    void agent_lost(const std::string &host, Time now);
    /* An agent has yet to tell what becomes of that. */
    bool awaits_salvage() const;
    /* By a signal; and it goes on. */
    void rank_stopped(int rank, Time now);
    void rank_continued(int rank, Time now);
    /* A node has no agent: nobody sees what becomes of its ranks; and it has one again. */
    void node_unserved(const std::string &host, Time now);
    void node_served(const std::string &host);
    void node_lost(const std::string &host, Time now);
    void cut_off(Time now);

    /* What is to be done now: each step once, in this order. */
    Step step(Time now);
    /* When to ask again, if nothing happens; Time::max(): never. */
    Time next_step() const;

    const std::set<std::string> &lost_nodes() const { return lost_nodes_; }
    /* When a node was lost last, or we were cut off: from then on ranks that can still be
     * alive may be waited for, until they have been fenced. */
    std::optional<Time> silent_since() const { return silent_since_; }
    /* The first one. */
    const std::optional<Failure> &failure() const { return failure_; }

  private:
    struct Rank {
        std::string host;
        bool is_finished = false;
        bool has_ended = false;
        bool is_salvaging = false;
        std::string why_not_salvaged;
        std::optional<Time> stopped_since;
    };

    void fail(Failure failure, Time end_at);
    Failure end_of(int rank) const;
    Duration time_to_end() const { return acts_ ? limits_.news : limits_.own_end; }
    void look_at_stopped(Time now);
    void look_at_unserved(Time now);
    bool has_ranks(const std::string &host) const;
    bool all_are_stopped() const;
    bool is_ending() const { return terminate_at_ != Time::max() || kill_at_ != Time::max(); }

    Limits limits_;
    bool tolerant_ = false;
    bool acts_ = false;
    std::map<int, Rank> ranks_;
    std::map<std::string, Time> unserved_; /* nodes, since when */
    std::set<std::string> lost_nodes_;
    std::optional<Time> silent_since_;
    std::optional<Failure> failure_;
    Time end_at_ = Time::max();
    Time terminate_at_ = Time::max();
    Time kill_at_ = Time::max();
};

} // namespace ckpt
