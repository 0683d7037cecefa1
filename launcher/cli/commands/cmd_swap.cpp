/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_swap.cpp - `ckpt swap`, `ckpt resume` and `ckpt migrate`: requests to a running `ckpt
 * run`.
 */
#include "cli/jobs/agent_client.hpp"
#include "cli/jobs/checkpoints.hpp"
#include "cli/base/options.hpp"
#include "cli/base/progress_line.hpp"
#include "cli/jobs/run_requests.hpp"

#include <fmt/core.h>

namespace ckpt::cli
{

namespace
{

/* Sends the request to the job's `ckpt run`; returns its result. */
control::Result ask_run(const TierDirectories &directories, const std::string &job,
                        const control::Request &request)
{
    std::optional<control::Reply> reply;
    {
        ProgressLine line;
        reply = ask_agent(run_socket(directories, job), request, -1,
                          [&](const control::Progress &progress) {
                              line.show(fmt::format("{}: {} of {} ranks", progress.phase,
                                                    progress.ranks_done,
                                                    progress.rank_count));
                          });
    }
    if (!reply) {
        stop_with(exit_not_found, "no ckpt run of a job {} in {} is on this host", job,
                  directories.text());
    }
    if (reply->event == "error") {
        stop_refused(control::refusal_of(*reply).after(fmt::format("job {}: ", job)));
    }
    return reply->result;
}

class RunRequestCommand : public Command
{
  public:
    explicit RunRequestCommand(std::string command) { request_.command = std::move(command); }

    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_, "The job's name")->required();
        add_option(app, "--dir", directory_);
        if (request_.command == "migrate") {
            add_option(app, "--from", request_.from);
            add_option(app, "--to", request_.to);
        }
    }

    int run(const Words &) override
    {
        const control::Result result = ask_run(directories_of(directory_), job_, request_);
        if (!result.name.empty()) {
            fmt::print("{}\n", result.name);
        }
        return exit_done;
    }

  private:
    control::Request request_;
    std::string job_;
    std::string directory_;
};

} // namespace

std::unique_ptr<Command> make_swap_command()
{
    return std::make_unique<RunRequestCommand>("swap");
}

std::unique_ptr<Command> make_resume_command()
{
    return std::make_unique<RunRequestCommand>("resume");
}

std::unique_ptr<Command> make_migrate_command()
{
    return std::make_unique<RunRequestCommand>("migrate");
}

} // namespace ckpt::cli
