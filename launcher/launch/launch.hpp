/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.hpp - one launch: the ranks of this node from their start to the end of the last one.
 */
#pragma once

#include "common/signal_descriptor.hpp"
#include "common/event_loop.hpp"
#include "launch/adopted.hpp"
#include "launch/child_process.hpp"
#include "launch/launch_options.hpp"
#include "launch/world_server.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt::launch
{

class Launch
{
  public:
    /* libraries: directory of ckpt's programs. Throws Error if the server does not start. */
    Launch(LaunchOptions options, const std::filesystem::path &libraries);

    /* Runs the ranks. Returns the exit code: that of the rank that failed first (128 + signal),
     * 128 + signal if this process was asked to end, otherwise 0. Throws Error if the ranks
     * cannot be started, or not within the limit. With keeps_going it also waits for copies
     * that may replace a rank that has failed (adopted.hpp). */
    int run();

  private:
    using Time = std::chrono::steady_clock::time_point;

    /* The process of a rank that runs. */
    struct Running {
        ChildProcess process;
        std::optional<Time> kill_at; /* it has got SIGTERM */
    };

    void received(const world::Message &message);
    void server_gone(const std::string &why);
    void start_ranks(const world::Registered &answer);
    void start_rank(int rank, const std::vector<std::string> &variables);
    void rank_event(const world::RankEvent &event);
    void rank_ended(int rank);
    void look_whether_finalized(int rank);
    void rank_failed(int rank, int code, const std::string &how);
    void take_signals();
    void reap();
    void signal_all(int number);
    static void end(Running &rank);
    void end_all();
    void kill_overdue();
    bool is_over();
    void give_up_late_server();
    Time next_turn() const;

    const LaunchOptions options_;
    const std::vector<std::string> environment_; /* of all ranks */
    EventLoop loop_;
    SignalDescriptor signals_;
    WorldServer server_;
    std::optional<Adopted> adopted_;                 /* if it keeps going */
    const std::vector<std::vector<int>> processors_; /* by rank */
    std::map<int, Fd> endpoints_;                    /* by rank, until it is started */
    std::map<int, Running> ranks_;                   /* by rank */
    std::set<int> connected_;                        /* ranks between MPI_Init and MPI_Finalize */
    std::set<int> lost_;                             /* ranks that have gone without MPI_Finalize */
    const Time start_by_;                            /* the ranks */
    bool has_started_ = false;
    bool is_ending_ = false;          /* all ranks are to end */
    std::string obstacle_;            /* why the ranks cannot be started */
    std::optional<int> exit_code_;    /* after a failure, or when the launch is ending */
    std::optional<Time> kill_copies_; /* when to kill copies that have come to life */
};

} // namespace ckpt::launch
