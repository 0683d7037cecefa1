/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_status.cpp - `ckpt status`: shows the state of the jobs of a directory.
 */
#include "agent/control/metrics.hpp"
#include "cli/jobs/checkpoints.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/base/json_text.hpp"
#include "cli/base/options.hpp"
#include "cli/jobs/status_view.hpp"
#include "cli/jobs/own_status.hpp"
#include "cli/jobs/wait_notice.hpp"
#include "cli/jobs/watch.hpp"
#include "common/durations.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

namespace ckpt::cli
{

namespace
{

constexpr auto shortest_period = std::chrono::milliseconds(20);

/* A job that is known only from its files: not running, or its agent is on
 * another host. */
struct StoredJob {
    std::string name;
    std::string state; /* as in JobState; or "running on HOST", or "unknown" */
    std::size_t committed = 0;
    std::string newest; /* name of its newest committed checkpoint, or "" */
};

StoredJob stored_job(const Tiers &tiers, const std::string &name)
{
    StoredJob job;
    job.name = name;
    auto state = tiers.job_state(name);
    job.state = !state                      ? "unknown"
                : tiers.is_live(name)       ? "running on " + state->host
                : state->state == "running" ? "failed"
                                            : state->state;
    for (const TierCheckpoint &entry : tiers.checkpoints(name)) {
        if (entry.is_in_fast || entry.is_in_slow) {
            job.committed++;
            job.newest = entry.checkpoint.name();
        }
    }
    return job;
}

nlohmann::json to_json(const RunningJob &job)
{
    nlohmann::json json = job.status;
    if (job.status.rejected.empty()) {
        json.erase("rejected");
    }
    json["running"] = !is_swapped_out(job.status);
    return json;
}

nlohmann::json to_json(const StoredJob &job)
{
    return {{"job", job.name},
            {"running", false},
            {"phase", job.state},
            {"committed", job.committed},
            {"newest", job.newest}};
}

/* Explains the automatic checkpoint interval. */
std::string to_text_why(const control::Status &status)
{
    return fmt::format(
        "    {}, a failure every {}{}\n",
        status.cost > 0
            ? fmt::format("a checkpoint costs {}", format_seconds(status.cost))
            : "nothing is known of what a checkpoint costs",
        format_seconds(status.mtbf),
        status.mtbf_is_given ? ""
                             : fmt::format(" ({} seen)", status.failures));
}

std::string ranks_text(const control::Status &status)
{
    return is_alone(status) ? "one process"
                            : counted(status.rank_count, "rank");
}

/* Describes the progress of copies to the slow directory. */
std::string to_text_tiers(const control::Status &status)
{
    if (status.slow_directory.empty()) {
        return {};
    }
    std::string text = fmt::format("  copied to {}:", status.slow_directory);
    if (status.flushed != 0) {
        text += fmt::format(" {}/{}", status.job, status.flushed);
    } else {
        text += " nothing yet";
    }
    if (status.flushing != 0) {
        text += fmt::format(", {}/{} on its way", status.job, status.flushing);
    }
    text += "\n";
    if (!status.flush_error.empty()) {
        text += fmt::format("  not copied: {}\n", status.flush_error);
    }
    return text;
}

/* Describes the redundancy that protects a checkpoint against the loss of nodes
 * before it is copied to the slow directory. */
std::string to_text_redundancy(const control::Status &status)
{
    if (status.redundancy.empty() || status.redundancy == "none") {
        return {};
    }
    std::string text = fmt::format("  survives lost nodes ({}):", status.redundancy);
    if (status.redundant != 0) {
        text += fmt::format(" {}/{}", status.job, status.redundant);
    } else {
        text += " nothing yet";
    }
    text += "\n";
    if (!status.redundancy_error.empty()) {
        text += fmt::format("  does not survive them: {}\n", status.redundancy_error);
    }
    return text;
}

/* Counts refused and failed checkpoints, by reason. */
std::string to_text_refusals(const control::Status &status)
{
    std::string text;

    for (const auto &[why, count] : status.refusals) {
        text += fmt::format("{} {} {}", text.empty() ? "" : ",", count, why);
    }
    return text.empty() ? text : fmt::format("  not taken:{}\n", text);
}

/* Counts rejected messages and connections, by reason. */
std::string to_text_rejected(const control::Status &status)
{
    std::string text;

    for (const auto &[why, count] : status.rejected) {
        text += fmt::format("{} {} {}", text.empty() ? "" : ",", count, why);
    }
    return text.empty() ? text : fmt::format("  rejected:{}\n", text);
}

std::string to_text_swapped_out(const control::Status &status)
{
    std::string text = fmt::format("{}: swapped out since {}, {} of {}\n  {} on {}, directory {}\n",
                                   status.job, day_and_time(status.started),
                                   ranks_text(status), status.application,
                                   launcher_text(status), status.host, status.directory);
    if (status.last.number != 0) {
        text += fmt::format("  newest checkpoint {} ({}), of {}\n", status.last.name,
                            format_bytes(status.last.bytes), day_and_time(status.last_at));
    }
    return text + fmt::format("  ckpt resume {} brings it back\n", status.job);
}

std::string to_text(const RunningJob &job)
{
    const control::Status &status = job.status;
    if (is_swapped_out(status)) {
        return to_text_swapped_out(status);
    }
    std::string text = fmt::format(
        "{}: {}, {} of {}\n  {} on {}, directory {}\n",
        status.job, status.phase, ranks_text(status), status.application,
        launcher_text(status), status.host, status.directory);
    if (!status.waits_for.empty()) {
        text += fmt::format("  a checkpoint waits: {}\n", status.waits_for);
    }
    text += fmt::format("  checkpoints: {} committed, {} failed",
                        status.committed, status.failed);
    if (status.last.number != 0) {
        text += fmt::format(", newest {} ({}, {})", status.last.name,
                            format_bytes(status.last.bytes),
                            format_seconds(status.last.timings.total));
    }
    text += "\n";
    if (status.interval > 0) {
        text += fmt::format("  every {}", format_seconds(status.interval));
        if (status.next_in >= 0) {
            text += fmt::format(", next in {}", format_seconds(status.next_in));
        }
        text += "\n";
        text += status.automatic ? to_text_why(status) : "";
    }
    text += to_text_redundancy(status);
    text += to_text_tiers(status);
    if (status.unprotected_since > 0) {
        text += fmt::format("  UNPROTECTED since {}\n", day_and_time(status.unprotected_since));
    }
    if (!status.last_error.empty()) {
        text += fmt::format("  last failure: {}\n", last_failure(status).text());
    }
    text += to_text_refusals(status);
    text += to_text_rejected(status);
    return text;
}

std::string to_text(const StoredJob &job)
{
    return fmt::format("{}: {}, {} checkpoints{}{}\n", job.name, job.state,
                       job.committed, job.newest.empty() ? "" : ", newest ",
                       job.newest);
}

class StatusCommand : public Command
{
  public:
    bool prints_json() const override { return json_; }

    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_,
                       "Process id of mpirun, or the job's name [all jobs of "
                       "the directory]");
        add_option(app, "--dir", directory_);
        CLI::Option *json = add_option(app, "--json", json_);
        CLI::Option *metrics = add_option(app, "--prometheus", metrics_);
        add_option(app, "--watch", watch_)->excludes(json)->excludes(metrics);
        metrics->excludes(json);
    }

    int run(const Words &) override
    {
        if (!watch_.empty()) {
            watch_job(directories_of(directory_), job_, period());
            return exit_done;
        }
        if (metrics_) {
            print_metrics();
            return exit_done;
        }
        collect();
        if (json_) {
            fmt::print("{}", json_text(shown_));
        }
        if (shown_.empty()) {
            stop_with(exit_not_found, "there is no job in {}", directory_);
        }
        return exit_done;
    }

  private:
    /* Prints each job at once, because the next one may take long. */
    template <typename Job>
    void show(const Job &job)
    {
        shown_.push_back(to_json(job));
        if (!json_) {
            fmt::print("{}", to_text(job));
            std::fflush(stdout);
        }
    }

    /* Skips jobs that were shown already. */
    void show(const RunningJob &job)
    {
        if (launches_.insert(job.status.launch_namespace).second) {
            names_.insert(job.status.job);
            show<RunningJob>(job);
        }
    }

    std::chrono::nanoseconds period() const
    {
        try {
            const std::chrono::nanoseconds period = parse_duration(watch_);
            if (period >= shortest_period) {
                return period;
            }
        } catch (const Error &problem) {
            stop_with(exit_usage, "--watch: {}", problem.what());
        }
        stop_with(exit_usage, "--watch: {} is too short a time", watch_);
    }

    /* Covers the jobs of all directories, because monitoring is per host. */
    void print_metrics() const
    {
        const TierDirectories directories = directories_of(directory_);
        std::vector<control::Status> jobs;
        if (job_.empty()) {
            for (RunningJob &job : running_jobs(directories)) {
                jobs.push_back(std::move(job.status));
            }
        } else {
            jobs.push_back(find_job(directories, job_).status);
        }
        fmt::print("{}", metrics_text(jobs, static_cast<double>(now_nanoseconds()) * 1e-9));
    }

    void collect()
    {
        const TierDirectories directories = directories_of(directory_);
        if (job_.empty()) {
            show_all(jobs_said_to_run_in(directories));
            show_all(jobs_running_in(directories));
            show_stored(directories);
            return;
        }
        try {
            show(find_job(directories, job_));
        } catch (const CommandError &) {
            show_stored(directories);
            if (shown_.empty()) { /* not known from files either */
                throw;
            }
        }
    }

    void show_all(const std::vector<RunningJob> &jobs)
    {
        for (const RunningJob &job : jobs) {
            show(job);
        }
    }

    /* Shows jobs that are not running; only that of the given name, if there is
     * one. */
    void show_stored(const TierDirectories &directories)
    {
        const WaitNotice notice(directories.text());
        const auto tiers = Tiers::open(directories);

        for (const std::string &name : tiers ? tiers->jobs() : Words{}) {
            if ((job_.empty() || job_ == name) && !names_.contains(name)) {
                show(stored_job(*tiers, name));
            }
        }
    }

    std::string job_;
    std::string directory_;
    std::string watch_; /* a duration, or "" */
    bool json_ = false;
    bool metrics_ = false;
    nlohmann::json shown_ = nlohmann::json::array();
    /* The running jobs that were shown already. */
    std::set<std::string> launches_;
    std::set<std::string> names_;
};

} // namespace

std::unique_ptr<Command> make_status_command()
{
    return std::make_unique<StatusCommand>();
}

} // namespace ckpt::cli
