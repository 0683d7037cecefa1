/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.cpp - polls a job, and detects its end.
 */
#include "cli/jobs/watch.hpp"

#include "cli/base/live_text.hpp"
#include "cli/jobs/status_view.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"

#include <cerrno>
#include <csignal>

namespace ckpt::cli
{

namespace
{

constexpr int starting_timeout_ms = 10000;
constexpr const char *supervisor_name = "ckpt"; /* `ckpt run` */

/* Blocks SIGINT, so that it is received between two polls. */
class Interrupt
{
  public:
    Interrupt()
    {
        sigemptyset(&set_);
        sigaddset(&set_, SIGINT);
        sigprocmask(SIG_BLOCK, &set_, &before_);
    }
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;
    ~Interrupt() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

    /* Waits for `period`; returns true if the user has pressed Ctrl-C. */
    bool comes_within(std::chrono::nanoseconds period) const
    {
        CKPT_EXPECT(period.count() >= 0); /* sigtimedwait() would not wait at all */
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(period);
        const timespec limit = {seconds.count(), (period - seconds).count()};
        return sigtimedwait(&set_, nullptr, &limit) == SIGINT;
    }

  private:
    sigset_t set_;
    sigset_t before_;
};

/* A process, distinguished from a later one with the same id. */
class KnownProcess
{
  public:
    explicit KnownProcess(int pid)
        : pid_(pid), identity_(process_identity(pid)) {}

    bool is_there() const
    {
        return !identity_.empty() && is_running(pid_) && process_identity(pid_) == identity_;
    }

  private:
    int pid_;
    std::string identity_;
};

/* The processes that may give the job another agent: its launcher, and the `ckpt run`
 * that would start it again. */
class Keepers
{
  public:
    explicit Keepers(const control::Status &status)
        : launcher_(status.launcher_pid), supervisor_(supervisor_of(status.launcher_pid))
    {
    }

    bool are_there() const { return launcher_.is_there() || supervisor_.is_there(); }

  private:
    static int supervisor_of(int launcher)
    {
        const int parent = parent_of(launcher);
        return process_name(parent) == supervisor_name ? parent : 0;
    }

    KnownProcess launcher_;
    KnownProcess supervisor_;
};

/* Returns the current state of the job; nothing if no agent responds. */
std::optional<RunningJob> found_again(const RunningJob &job)
{
    const TierDirectories own = {job.status.directory, job.status.slow_directory};
    try {
        return find_job(own, job.status.job);
    } catch (const CommandError &) {
        return std::nullopt;
    }
}

/* Returns how a job without an agent has ended, or "". */
std::string ending_of(const control::Status &status, const Keepers &keepers)
{
    auto tiers = Tiers::open({status.directory, status.slow_directory});
    auto state = tiers ? tiers->job_state(status.job) : std::nullopt;
    if (state && (state->state == "ended" || state->state == control::interrupted)) {
        return state->state;
    }
    if (state && state->state == "running" && state->host != status.host) {
        return fmt::format("goes on on {}", state->host);
    }
    return keepers.are_there() ? "" : "failed";
}

void show(LiveText &text, const control::Status &status)
{
    text.show(status_view(status, static_cast<double>(now_nanoseconds()) * 1e-9));
}

/* Returns the last known status, without any activity in progress. */
control::Status without_agent(control::Status status, const std::string &phase)
{
    status.phase = phase;
    status.progress = {};
    status.waits_for.clear();
    status.next_in = -1;
    for (control::NodeStatus &node : status.nodes) {
        node.connected = false;
    }
    return status;
}

} // namespace

void watch_job(const TierDirectories &directories, const std::string &word,
               std::chrono::nanoseconds period)
{
    const Interrupt interrupt;
    RunningJob job = find_started_job(directories, word, starting_timeout_ms);
    Keepers keepers(job.status);
    LiveText text;
    std::string ending;

    show(text, job.status);
    while (ending.empty() && !interrupt.comes_within(period)) {
        if (auto now = found_again(job)) {
            /* An agent may outlive its launcher; then the parent of the launcher is
             * unknown. */
            if (now->status.launcher_pid != job.status.launcher_pid) {
                keepers = Keepers(now->status);
            }
            job = std::move(*now);
            show(text, job.status);
        } else {
            ending = ending_of(job.status, keepers);
            show(text, without_agent(job.status,
                                     ending.empty() ? "no agent answers" : ending));
        }
    }
}

} // namespace ckpt::cli
