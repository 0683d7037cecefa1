/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_run.hpp - the life of a job under `ckpt run`: launches, restarts after failures,
 * swapping, migrations.
 */
#pragma once

#include "cli/run/batch_options.hpp"
#include "cli/jobs/checkpoints.hpp"
#include "cli/files/job_input.hpp"
#include "cli/launchers/node_plan.hpp"
#include "cli/run/restart_line.hpp"
#include "cli/run/supervised_launch.hpp"
#include "gather/gathering.hpp"
#include "image/store/job_owner.hpp"
#include "supervise/restart_policy.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string>

namespace ckpt::cli
{

/* Maximum wait for the agent of an ended job to end, in milliseconds. */
inline constexpr int last_agent_ms = 30000;

/* Whether an operation that failed with this error number may succeed later: a file server fails,
 * or a directory is full. */
bool may_pass(int code);

class JobRun
{
  public:
    struct Options {
        Words command;
        std::string job;
        TierDirectories directories;
        Environment settings; /* settings of the job */
        RestartPolicy::Limits restarts;
        std::size_t spares = 0;
        std::size_t min_nodes = 1;
        std::set<int> swaps;                /* signals that swap the job out */
        std::set<int> migrations;           /* signals for a migration to the nodes ... */
        std::filesystem::path nodes_file{}; /* ... in this file */
        journal::Files files = journal::Files::roll_back;
        bool ends_unprotected = false; /* end a job that cannot be saved for one interval */
        bool conceals = false;         /* conceal outputs until a checkpoint commits */
    };

    /* From now on signals are received through a descriptor. `batch` must outlive this
     * object. Throws Error. */
    JobRun(Options options, const BatchOptions &batch);

    /* Takes the ownership of the job for this command, until it ends. */
    void take(JobOwnership::Take take) { take_for(0, take); }

    /* Runs the job to its end; returns the exit code. Throws Error. */
    int run();

  private:
    /* While a file server fails or a directory is full, a job that must restart retries. */
    static constexpr std::chrono::seconds next_try{1};
    static constexpr int most_tries = 300;

    Invocation first_start();
    Invocation start_over();
    Invocation restart(const Checkpoint &checkpoint);
    Invocation restart_now(const Checkpoint &checkpoint);
    /* Repeats `function` while a directory is temporarily unusable, if there was a launch already.
     * No other process would restart the job. */
    template <typename Function>
    auto repeat_while_unusable(const Function &function);
    void take_for(std::uint64_t checkpoint, JobOwnership::Take take);
    void take_as(const std::string &launcher, JobOwnership::Take take);
    void own_launcher(pid_t launcher);
    Environment supervision();
    std::filesystem::path supervisor_file() const;

    void prepare_gathering(const Checkpoint &checkpoint);
    bool could_not_gather();
    bool may_launch(Invocation &next);
    Ending launch(const Invocation &invocation);
    void await_last_agent() const;
    int after_unprotected(int code) const;
    /* Returns the number of the newest checkpoint, or 0. Throws Error. */
    std::uint64_t newest_number() const;
    std::uint64_t newest_if_readable() const;
    int after_warning(const Ending &ending, bool is_saved) const;
    std::optional<Invocation> after_last(const Ending &ending, int &code);
    std::optional<Invocation> after_failure(const Ending &ending);
    bool may_start_over();
    std::optional<Invocation> start_from_newest(int code);
    Prospects prospects() const;
    std::optional<Checkpoint> checkpoint_to_restart();
    std::optional<Checkpoint> look_for_checkpoint();
    Failure cause_of(const Ending &ending);
    bool has_enough_nodes() const;
    bool rest(std::chrono::milliseconds time);
    void nodes_are_free(const LastCheckpoint &last);
    bool wait_until_resumed();
    bool is_set(const char *variable, std::string_view value) const;
    std::string obstacle_to_recovery(bool is_in_place) const;
    void choose_recovery();
    Refusal obstacle(const std::string &from, const std::string &to) const;
    std::optional<Words> nodes_to_move_to(int signal);
    bool take_nodes_between(int signal);
    bool take_job_control(int signal);
    void suspect_components();
    static std::chrono::milliseconds time_to_fence(const Ending &ending);
    void say_end(int code, const std::string &why) const;
    void open_input(bool is_resumed);
    void forget_input(int code);
    void forget_directory() const;
    void leave_directory(int code);
    void begin_journal() const;
    void conceal() const;
    void reveal_outputs(int code) const;

    Options options_; /* without automatic settings that cannot work here */
    const BatchOptions &batch_;
    SignalDescriptor signals_;
    EventLoop loop_;
    std::optional<RunRequests> requests_; /* during run() */
    NodePlan nodes_;
    bool has_other_nodes_ = false;        /* since the next launch was prepared */
    std::optional<Checkpoint> next_from_; /* of the next launch; nothing: the beginning */
    bool tolerates_ended_ranks_ = false;
    /* Acts for the launcher when ranks die, so that they can be replayed. */
    bool acts_for_launcher_ = false;
    bool is_warned_ = false; /* a warning signal came between two launches */
    /* Stopped between two launches; reset by the matching SIGCONT. */
    bool was_stopped_ = false;
    RestartPolicy policy_;
    const std::string token_ = make_owner_token();
    std::optional<JobOwnership> ownership_;
    std::uint64_t uses_ = 0; /* checkpoint from which the launch continues; 0: none */
    std::uint64_t incarnation_ = 0;
    std::uint64_t newest_ = 0; /* newest checkpoint when this command started */
    /* checkpoints up to this number belong to earlier runs */
    std::uint64_t before_ = 0;
    std::uint64_t last_ = 0;                     /* checkpoint of the last restart */
    std::optional<gather::Gathering> gathering_; /* if the checkpoint is on the nodes */
    std::set<std::uint64_t> not_on_nodes_;       /* the nodes have lost too much */
    std::set<std::string> lost_nodes_;
    /* The failure that led to a replay, until the job has a newer checkpoint. */
    std::optional<Failure> salvage_;
    std::optional<JobInput> input_; /* during run() */
    bool has_launched_ = false;
    bool have_ranks_come_ = false; /* in the last launch */
    /* A restart from this checkpoint has failed before a rank came back; 0: none. */
    std::uint64_t failed_to_come_ = 0;
    bool has_all_input_ = false;           /* the checkpoint of this launch has all of the input */
    std::set<std::uint64_t> not_replayed_; /* checkpoints from which a replay has failed */
};

template <typename Function>
auto JobRun::repeat_while_unusable(const Function &function)
{
    for (int tries = 0;; tries++) {
        try {
            return function();
        } catch (const Error &problem) {
            if (!has_launched_ || !may_pass(problem.code()) || tries == most_tries) {
                throw;
            }
            if (tries == 0) {
                fmt::print(stderr, "ckpt: {}; it is tried again\n", problem.what());
            }
            if (!rest(next_try)) {
                throw;
            }
        }
    }
}

} // namespace ckpt::cli
