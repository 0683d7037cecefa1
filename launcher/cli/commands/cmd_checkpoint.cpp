/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_checkpoint.cpp - `ckpt checkpoint`: saves a running job.
 */
#include "cli/jobs/agent_client.hpp"
#include "cli/jobs/checkpoints.hpp"
#include "cli/files/input_state.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/base/json_text.hpp"
#include "cli/base/options.hpp"
#include "cli/launchers/pmix_request.hpp"
#include "cli/base/progress_line.hpp"
#include "cli/jobs/own_status.hpp"

#include <fmt/core.h>

#include <filesystem>

namespace ckpt::cli
{

namespace
{

constexpr int starting_timeout_ms = 10000;

class CheckpointCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_,
                       "Process id of mpirun, or the job's name [the only "
                       "job running in the directory]");
        add_option(app, "--dir", directory_);
        add_option(app, "--kill", kill_);
        add_option(app, "--json", json_);
        add_option(app, "--pmix", pmix_);
    }

    int run(const Words &) override
    {
        if (pmix_) {
            return run_through_pmix();
        }
        RunningJob job =
            find_started_job(directories_of(directory_), job_, starting_timeout_ms);
        control::Request request;
        request.command = "checkpoint";
        request.then = kill_ ? "kill" : "";

        const std::optional<control::Reply> reply = ask(job, request);
        if (!reply) {
            stop_with(exit_not_found, "job {} has just ended",
                      job.status.job);
        }
        if (reply->event == "error") {
            stop_refused(control::refusal_of(*reply).after(
                fmt::format("job {}: ", job.status.job)));
        }
        print(reply->result);
        warn_of_input(reply->result.name, job.status.launcher_pid);
        return exit_done;
    }

    bool prints_json() const override { return json_; }

  private:
    /* Returns nothing if the job has ended. */
    static std::optional<control::Reply> ask(const RunningJob &job,
                                             const control::Request &request)
    {
        ProgressLine line;
        try {
            return ask_agent(job.socket, request, -1, [&](const control::Progress &progress) {
                line.show(text(progress, line.seconds()));
            });
        } catch (const AgentDied &) {
            if (!is_said_to_have_ended(job.status)) {
                throw;
            }
            return std::nullopt;
        }
    }

    /* An agent records the end of the job before it exits. A killed agent leaves
     * the state "running". */
    static bool is_said_to_have_ended(const control::Status &status)
    {
        const auto state = Store(status.directory).job_state(status.job);

        return state && state->state != "running";
    }

    /* Works even if the agent, on the node of rank 0, is out of reach. */
    int run_through_pmix()
    {
        if (kill_ || json_) {
            stop_with(exit_usage, "--pmix cannot be combined with --kill or --json");
        }
        const bool is_number = !job_.empty() && job_.size() < 10 &&
                               job_.find_first_not_of("0123456789") == job_.npos;
        const int launcher = is_number ? std::stoi(job_) : launcher_of_job();
        std::string name;
        {
            ProgressLine line;
            name = ask_through_pmix(launcher, [&] {
                line.show(fmt::format("asked by way of PMIx, {}",
                                      format_seconds(line.seconds())));
            });
        }
        fmt::print("{}\n", name);
        return exit_done;
    }

    int launcher_of_job() const
    {
        const control::Status status = find_job(directories_of(directory_), job_).status;
        if (is_swapped_out(status)) {
            stop_refused(CKPT_REFUSAL_SWAPPED_OUT, "job {} is swapped out", status.job);
        }
        return status.launcher_pid;
    }

    /* Whether the launcher's standard input is a terminal or /dev/null. */
    static bool has_terminal(int launcher)
    {
        std::error_code error;
        const std::string path =
            std::filesystem::read_symlink(fmt::format("/proc/{}/fd/0", launcher), error);
        return path.starts_with("/dev/pts/") || path.starts_with("/dev/tty") || path == "/dev/null";
    }

    /* Warns about input that is on its way to the rank: it is lost when the
     * launcher ends. */
    void warn_of_input(const std::string &name, int launcher) const
    {
        try {
            const auto state =
                input_state(find_checkpoint_here(directories_of(directory_), name));
            if (state && !state->has_ended && !state->is_kept && !has_terminal(launcher)) {
                fmt::print(stderr,
                           "ckpt: standard input has not ended; {} has the {} unread bytes. "
                           "Later input is lost if the job ends; ckpt run keeps it\n",
                           name, state->unread);
            }
        } catch (const Error &) { /* the checkpoint is on the nodes */
        }
    }

    static std::string text(const control::Progress &progress, double seconds)
    {
        if (!progress.waits_for.empty()) {
            return fmt::format("it waits: {}, {}", progress.waits_for,
                               format_seconds(seconds));
        }
        return fmt::format("{}: {} of {} ranks, {} written, {}",
                           progress.phase, progress.ranks_done,
                           progress.rank_count,
                           format_bytes(progress.bytes_done),
                           format_seconds(seconds));
    }

    void print(const control::Result &result) const
    {
        if (json_) {
            fmt::print("{}", json_text(nlohmann::json(result)));
        } else {
            fmt::print("{}\n", result.name);
        }
    }

    std::string job_;
    std::string directory_;
    bool kill_ = false;
    bool json_ = false;
    bool pmix_ = false;
};

} // namespace

std::unique_ptr<Command> make_checkpoint_command()
{
    return std::make_unique<CheckpointCommand>();
}

} // namespace ckpt::cli
