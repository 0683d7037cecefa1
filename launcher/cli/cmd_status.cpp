/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_status.cpp - `ckpt status`: what the jobs of a directory are doing.
 */
#include "cli/checkpoints.hpp"
#include "cli/jobs.hpp"
#include "cli/json_text.hpp"
#include "common/durations.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

namespace ckpt::cli
{

namespace
{

/* A job that has only its files left, or whose agent is on another host. */
struct StoredJob {
    std::string name;
    std::string state; /* "ended", "failed", "running on HOST" or "unknown" */
    std::size_t committed = 0;
    std::string newest; /* name of its newest committed checkpoint, or "" */
};

StoredJob stored_job(const Store &store, const std::string &name)
{
    StoredJob job;
    job.name = name;
    auto state = store.job_state(name);
    job.state = !state                ? "unknown"
                : store.is_live(name) ? "running on " + state->host
                : state->state == "ended" ? "ended"
                                          : "failed";
    for (const Checkpoint &checkpoint : store.checkpoints(name)) {
        if (checkpoint.state == Checkpoint::State::committed) {
            job.committed++;
            job.newest = checkpoint.name();
        }
    }
    return job;
}

nlohmann::json to_json(const RunningJob &job)
{
    nlohmann::json json = job.status;
    json["running"] = true;
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

/* Why an automatic interval is what it is. */
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
                            : fmt::format("{} ranks", status.rank_count);
}

std::string to_text(const RunningJob &job)
{
    const control::Status &status = job.status;
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
    if (!status.last_error.empty()) {
        text += fmt::format("  last failure: {}\n", status.last_error);
    }
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
    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_,
                       "Process id of mpirun, or the job's name [all jobs of "
                       "the directory]");
        add_directory_option(app, directory_);
        add_flag(app, "--json", json_, "Print as JSON");
    }

    int run(const Words &) override
    {
        collect();
        nlohmann::json json = nlohmann::json::array();
        std::string text;
        for (const RunningJob &job : running_) {
            json.push_back(to_json(job));
            text += to_text(job);
        }
        for (const StoredJob &job : stored_) {
            json.push_back(to_json(job));
            text += to_text(job);
        }
        fmt::print("{}", json_ ? json_text(json) : text);
        if (json.empty()) {
            stop_with(exit_not_found, "there is no job in {}", directory_);
        }
        return exit_done;
    }

  private:
    void collect()
    {
        auto store = open_store(directory_);
        if (job_.empty()) {
            running_ = jobs_running_in(directory_);
        } else {
            try {
                running_.push_back(find_job(directory_, job_));
            } catch (const CommandError &) {
                /* Known by its files, at least? */
                if (!store || !is_stored(*store, job_)) {
                    throw;
                }
            }
        }
        std::set<std::string> shown;
        for (const RunningJob &job : running_) {
            shown.insert(job.status.job);
        }
        for (const std::string &name : store ? store->jobs() : Words{}) {
            bool wanted = job_.empty() || (job_ == name && running_.empty());
            if (wanted && !shown.contains(name)) {
                stored_.push_back(stored_job(*store, name));
            }
        }
    }

    static bool is_stored(const Store &store, const std::string &name)
    {
        Words names = store.jobs();
        return std::find(names.begin(), names.end(), name) != names.end();
    }

    std::string job_;
    std::string directory_;
    bool json_ = false;
    std::vector<RunningJob> running_;
    std::vector<StoredJob> stored_;
};

} // namespace

std::unique_ptr<Command> make_status_command()
{
    return std::make_unique<StatusCommand>();
}

} // namespace ckpt::cli
