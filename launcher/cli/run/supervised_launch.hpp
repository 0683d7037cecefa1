/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervised_launch.hpp - one launch of a job, from the start of its launcher to its end.
 * Handles reports of agents about ranks and nodes, and requests by signals and commands.
 */
#pragma once

#include "cli/run/launch_process.hpp"
#include "cli/launchers/launcher_children.hpp"
#include "cli/jobs/run_requests.hpp"
#include "common/signal_descriptor.hpp"
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

/* A last checkpoint, after which no process of the launch continues. */
struct LastCheckpoint {
    enum class For {
        warning,
        swap,
        migration,
        end
    } purpose;
    int signal = 0;                  /* the signal that requested it, or ... */
    std::uint64_t client = 0;        /* ... the command that did; 0: none */
    std::string from, to;            /* nodes of a migration, or ... */
    std::vector<std::string> nodes;  /* ... the nodes that it may use */
    std::optional<std::string> name; /* set when the checkpoint exists */
    control::Reply answer;           /* for the command, sent when the nodes are free */
    bool is_resumed = false;         /* SIGCONT came before the job was swapped out */
};

/* How a launch ended. */
struct Ending {
    int exit_code = 0;              /* in the form of a shell: 128 + signal */
    bool by_user = false;           /* the user requested the end */
    std::optional<Failure> failure; /* what failed, if not only the launcher */
    std::set<std::string> lost;     /* lost nodes */
    /* Since when some nodes, or this one, may be cut off while their ranks still live. */
    std::optional<std::chrono::steady_clock::time_point> silent_since;
    std::optional<LastCheckpoint> last; /* if one was requested */
    bool was_unprotected = false;       /* ended because it could not be saved */
};

class SupervisedLaunch
{
  public:
    struct Options {
        std::filesystem::path file; /* path of the SupervisorFile */
        std::string host;           /* name of this node */
        std::uint64_t incarnation = 0;
        bool tolerates_ended_ranks = false;
        /* The launcher ends with the code of the rank that failed first. */
        bool has_exact_code = false;
        /* Make the launcher continue when a rank ends, and take over its part in that, if
         * possible. */
        bool acts_for_launcher = false;
        /* If the launcher ends and ranks have not, they are to go on, and this process waits for
         * them. */
        bool adopts_ranks = false;
        /* Socket on which the launcher's processes then announce themselves. */
        std::filesystem::path started_socket;
        bool ends_unprotected = false; /* end a job that cannot be saved for one interval */
        std::set<int> warnings;        /* signals that announce the end of the job */
        std::set<int> swaps;           /* signals that swap the job out */
        /* Called with the launcher's process before it executes the launcher. */
        std::function<void(pid_t)> launches;
        std::function<void()> ranks_have_come; /* called once, unless empty */
        /* Returns why the job cannot migrate in this way; empty: it can. */
        std::function<Refusal(const std::string &from, const std::string &to)> obstacle;
        std::set<int> migrations; /* signals that migrate the job to other nodes */
        /* Called for such a signal; returns the nodes that the job may use, or nothing if no
         * rank has to move or can move. */
        std::function<std::optional<std::vector<std::string>>(int signal)> nodes;
    };

    /* All references must outlive this object. Throws Error. */
    SupervisedLaunch(EventLoop &loop, const SignalDescriptor &signals, RunRequests &requests,
                     Options options);
    ~SupervisedLaunch();

    /* Starts the command and waits for its end. Callable once. Throws Error. */
    Ending run(const Invocation &invocation);

  private:
    using Time = EventLoop::Time;

    void recovered(int rank, std::uint64_t number, double seconds);
    void replayed(int rank, double seconds);
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
    void given_up(const Refusal &why);
    void step(Time now);
    void turn(Time until, bool steps = false);
    Time next_step() const;
    void say_failure(const char *more);
    void child_failed(pid_t child, int status);
    void signal_launch(int number);
    bool may_adopt();
    bool adopt_ranks();
    void look_at_adopted(Time now);
    void end_ranks();
    void await_end();
    void await_agents();
    void conclude();

    EventLoop &loop_;
    const SignalDescriptor &signals_;
    RunRequests &requests_;
    const Options options_;
    LaunchWatch watch_;
    std::optional<Supervisor> supervisor_;
    std::optional<LauncherProcess> launcher_;
    std::string launcher_name_;                /* for messages */
    std::optional<LauncherChildren> children_; /* if this process acts for the launcher */
    Ending ending_;
    int violations_ = 0; /* of invariants */
    bool has_launcher_ended_ = false;
    int asked_by_ = 0; /* the first signal by which the user has requested the end */
    bool has_ended_ = false;
    bool is_asked_to_stop_ = false; /* SIGTSTP came, and no SIGCONT since */
    bool has_said_failure_ = false;
    bool has_recovered_ = false;          /* in place */
    bool is_adopting_ = false;            /* the launcher has ended, and an agent has been asked */
    std::optional<std::string> adoption_; /* its answer: "", or why not */
    bool is_adopted_ = false;             /* the ranks have no launcher */
    bool has_said_adoption_ = false;
    bool has_ended_ranks_ = false;     /* on purpose */
    std::optional<Time> all_ended_at_; /* without a launcher: the end of the last rank */
    bool has_told_ranks_ = false;
    bool is_asked_ = false;       /* an agent was asked for the last checkpoint */
    bool has_lost_agent_ = false; /* the agent that was asked has died */
    std::optional<Time> kill_at_; /* when to kill processes that SIGTERM has not ended */
    /* For a starting job: when to stop asking. Unset: nothing to ask for. */
    std::optional<Time> ask_until_;
};

} // namespace ckpt::cli
