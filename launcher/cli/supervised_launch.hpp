/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervised_launch.hpp - one launch of a job, from the start of its launcher to its end: what
 * agents tell of ranks and nodes, what signals and commands ask for.
 */
#pragma once

#include "cli/launch_process.hpp"
#include "cli/launcher_children.hpp"
#include "cli/run_requests.hpp"
#include "cli/signal_descriptor.hpp"
#include "supervise/supervisor.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt::cli
{

/* A last checkpoint, behind which nothing of the launch runs on. */
struct LastCheckpoint {
    enum class For { warning, swap, migration, end } purpose;
    int signal = 0;                     /* that has asked for it, or ... */
    std::uint64_t client = 0;           /* the command that has; 0: none */
    std::string from, to;               /* nodes, for a migration, or ... */
    std::vector<std::string> nodes;     /* those that it may be on */
    std::optional<std::string> name;    /* when it exists */
    control::Reply answer;              /* then: for the command, when the nodes are free */
    bool is_resumed = false;            /* SIGCONT has come before it was swapped out */
};

/* How a launch has ended. */
struct Ending {
    int exit_code = 0;              /* as a shell gives it: 128 + signal */
    bool by_user = false;           /* somebody asked for the end */
    std::optional<Failure> failure; /* what went wrong, if it was not just the launcher */
    std::set<std::string> lost;     /* nodes */
    /* Since when some of them may only be cut off, with ranks that live; or we. */
    std::optional<std::chrono::steady_clock::time_point> silent_since;
    std::optional<LastCheckpoint> last; /* that was asked for */
    bool was_unprotected = false; /* it was ended because it could not be saved */
};

class SupervisedLaunch
{
  public:
    struct Options {
        std::filesystem::path file; /* SupervisorFile */
        std::string host;           /* name of this node */
        std::uint64_t incarnation = 0;
        bool tolerates_ended_ranks = false;
        /* The launcher is to go on when a rank ends, if we can do what it does then. */
        bool acts_for_launcher = false;
        std::filesystem::path started_socket; /* where its processes then say that they are there */
        bool ends_unprotected = false; /* a job that cannot be saved for an interval */
        std::set<int> warnings; /* signals that announce the end */
        std::set<int> swaps;    /* signals that want the job swapped out */
        std::function<void(pid_t)> launches;   /* the launcher, which has not begun yet */
        std::function<void()> ranks_have_come; /* once, if it is not empty */
        /* Why the job cannot migrate so; empty: it can. */
        std::function<std::string(const std::string &from, const std::string &to)> obstacle;
        std::set<int> migrations; /* signals that want the job on other nodes */
        /* For such a signal: the nodes that it may be on, if ranks have to move for that. */
        std::function<std::optional<std::vector<std::string>>(int signal)> nodes;
    };

    /* All must live longer. Throws Error. */
    SupervisedLaunch(EventLoop &loop, const SignalDescriptor &signals, RunRequests &requests,
                     Options options);
    ~SupervisedLaunch();

    /* Starts the command and waits for its end. Once. Throws Error. */
    Ending run(const Invocation &invocation);

  private:
    using Time = EventLoop::Time;

    bool acts_for_launcher() const { return options_.acts_for_launcher && supervisor_; }
    void take_signals();
    void take_earlier_signals();
    void take(const signalfd_siginfo &info);
    void look_whether_stopped();
    void stop_as_the_launcher_has();
    bool take_wish(int signal);
    void take(std::uint64_t client, const control::Request &request);
    void pass_on(std::uint64_t client, const control::Request &request);
    void wish(LastCheckpoint last);
    void ask();
    void answered(const control::Reply &reply);
    void saved(const std::string &name);
    bool is_asked_to_end();
    void protection(bool is_unprotected, bool is_overdue, const std::string &why);
    void ask_for_news();
    void await_nodes();
    void lost_agent();
    void given_up(const std::string &why);
    void step(Time now);
    Time next_step() const;
    void say_failure(const char *more);
    void child_failed(pid_t child, int status);
    void await_agents();
    void conclude();

    EventLoop &loop_;
    const SignalDescriptor &signals_;
    RunRequests &requests_;
    const Options options_;
    LaunchWatch watch_;
    std::optional<Supervisor> supervisor_;
    std::optional<LauncherProcess> launcher_;
    std::optional<LauncherChildren> children_; /* if we act for it */
    Ending ending_;
    bool has_ended_ = false;
    bool is_asked_to_stop_ = false; /* by SIGTSTP, until SIGCONT */
    bool has_said_failure_ = false;
    bool has_told_ranks_ = false;
    bool is_asked_ = false;         /* an agent, for the last checkpoint */
    bool has_lost_agent_ = false;   /* that was asked */
    std::optional<Time> kill_at_;   /* what SIGTERM has not ended */
    std::optional<Time> ask_until_; /* a job that is just starting; unset: in vain */
};

} // namespace ckpt::cli
