/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_watch.hpp - decides whether a launch has failed, and then how its launcher is ended. The
 * launchers' own behaviour is not reliable. Open MPI 4.1 waits for ever for a node that is cut off,
 * or for a rank that was stopped. With --enable-recovery it goes on without ranks that the others
 * wait for. No I/O: events in, steps out.
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
        /* After the death of a rank, the launcher usually ends within this time. */
        Duration own_end = std::chrono::seconds(5);
        /* If the launcher goes on without the rank: how long to wait for the rank's status. */
        Duration news = std::chrono::milliseconds(500);
        /* If the launcher goes on: it ends when it has seen all ranks end. After SIGTERM it
         * takes a second or two. Open MPI 4.1 does not end at all if a rank has died on another
         * node than its own. */
        Duration all_ended = std::chrono::seconds(1);
        /* From SIGTERM to SIGKILL. */
        Duration grace_period = std::chrono::seconds(3);
        /* A rank that is stopped for this time while others run counts as failed. */
        Duration stopped = std::chrono::seconds(10);
        /* A node may be without an agent for this time. Living ranks start another agent much
         * earlier. */
        Duration unserved = std::chrono::seconds(10);
    };

    enum class Step {
        none,
        end,       /* end all ranks */
        terminate, /* SIGTERM to the launcher */
        kill,      /* SIGKILL to the launcher */
    };

    explicit LaunchWatch(Limits limits)
        : limits_(limits) {}
    LaunchWatch()
        : LaunchWatch(Limits()) {}

    /* The program, or its user, handles ranks that end: these are not failures. */
    void tolerate_ended_ranks() { tolerant_ = true; }

    /* The launcher goes on when a rank ends, so that the rank can be replayed. So everything
     * that would have ended the launcher is a failure here. */
    void act_for_launcher() { acts_ = true; }

    void rank_here(int rank, const std::string &host);
    /* The rank has called MPI_Finalize. */
    void rank_finished(int rank);
    /* The rank's process has ended. */
    void rank_ended(int rank, Time now);
    /* The rank's exit status. It may come later than rank_ended(), or never. */
    void rank_status(int rank, int status, Time now);
    /* This process has seen a process of the launcher fail. rank: the rank of that process, or
     * -1 if it was not a rank yet. Reports of agents may come later, or never, if the agents
     * have died as well. */
    void process_failed(int rank, int status, Time now);
    /* The rank is gone. salvaging: the agent tries to save the others. salvaged: it has saved
     * them in this checkpoint. not_salvaged: it has failed, for this reason. */
    void rank_salvaging(int rank);
    void rank_salvaged(int rank, std::uint64_t number, std::uint64_t interval, Time now);
    void rank_not_salvaged(int rank, const std::string &why, Time now);
    /* The rank is gone. recovering: the agent ends all others, and tries to bring all back in
     * place. recovered: it has; is_alone: no other rank has gone back. not_recovered: it has not,
     * for this reason. host: of the agent, which the rank may not be on. */
    void rank_recovering(int rank, const std::string &host);
    void rank_recovered(int rank, bool is_alone = false);
    void rank_not_recovered(int rank, const std::string &why, Time now);
    /* The agent of the host's ranks has gone. */
    void agent_lost(const std::string &host, Time now);
    /* Whether an agent still has to report the result of a salvage or recovery. */
    bool awaits_salvage() const;
    /* Whether some rank has not called MPI_Finalize. */
    bool has_unfinished() const;
    /* Whether the processes of all ranks have ended; and their status is known. */
    bool all_have_ended() const;
    bool all_have_status() const;
    /* A signal has stopped the rank; the rank goes on. */
    void rank_stopped(int rank, Time now);
    void rank_continued(int rank, Time now);
    /* A node has no agent, so the state of its ranks is unknown; the node has an agent again. */
    void node_unserved(const std::string &host, Time now);
    void node_served(const std::string &host);
    void node_lost(const std::string &host, Time now);
    void cut_off(Time now);

    /* Returns the next step to take now: each step once, in this order. */
    Step step(Time now);
    /* Time of the next call if no event comes; Time::max(): none. */
    Time next_step() const;

    const std::set<std::string> &lost_nodes() const { return lost_nodes_; }
    /* When the latest node was lost, or this process was cut off. Living ranks on lost nodes
     * need time from then on until they are fenced. */
    std::optional<Time> silent_since() const { return silent_since_; }
    /* The first failure. */
    const std::optional<Failure> &failure() const { return failure_; }

  private:
    struct Rank {
        std::string host;
        bool is_finished = false;
        bool has_ended = false;
        bool has_status = false; /* after its end */
        bool is_salvaging = false;
        std::string why_not_salvaged; /* a clause */
        std::optional<Time> stopped_since;
    };

    void fail(Failure failure, Time end_at);
    Failure end_of(int rank) const;
    void end_recovery();
    void stays_dead(int rank, const std::string &clause, Time now);
    Duration time_to_end() const { return acts_ ? limits_.news : limits_.own_end; }
    bool all_have_finished() const;
    void look_at_finished(Time now);
    void look_at_stopped(Time now);
    void look_at_unserved(Time now);
    bool has_ranks(const std::string &host) const;
    bool all_are_stopped() const;
    bool is_ending() const { return terminate_at_ != Time::max() || kill_at_ != Time::max(); }

    Limits limits_;
    bool tolerant_ = false;
    bool acts_ = false;
    std::map<int, Rank> ranks_;
    std::optional<int> recovering_; /* the rank whose death began it */
    std::string recovering_on_;     /* host of the agent that leads */
    /* Ranks whose agents have not said since then that they are here again. What these agents say
     * about ends before that is of the old processes. */
    std::set<int> returning_;
    bool has_gone_back_ = false; /* all ranks have, at least once */
    std::optional<Time> finished_since_;
    bool has_recovered_ = false;           /* though agents have still to say that ranks are here */
    std::map<std::string, Time> unserved_; /* nodes, and since when */
    std::set<std::string> lost_nodes_;
    std::optional<Time> silent_since_;
    std::optional<Failure> failure_;
    Time end_at_ = Time::max();
    Time terminate_at_ = Time::max();
    Time kill_at_ = Time::max();
};

} // namespace ckpt
