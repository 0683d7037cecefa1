/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch_options.cpp - starts and ends jobs according to their batch scheduler.
 */
#include "cli/run/batch_options.hpp"

#include "cli/jobs/jobs.hpp"
#include "cli/base/options.hpp"
#include "cli/base/warning.hpp"
#include "common/host.hpp"
#include "common/processes.hpp"
#include "common/switch.hpp"

#include <fmt/core.h>

namespace ckpt::cli
{

namespace
{

const std::string by_scheduler = "yes";

} // namespace

void BatchOptions::declare(CLI::App &app)
{
    add_option(app, "--resume", resume_);
    add_option(app, "--warning-signal", warning_signals_);
    add_option(app, "--requeue", requeue_);
}

void BatchOptions::check() const
{
    try {
        parse_signals(warning_signals_);
    } catch (const Error &problem) {
        stop_with(exit_usage, "--warning-signal: {}", problem.what());
    }
    if (requeue_ == by_scheduler && scheduler_.requeue_command.empty()) {
        stop_with(exit_usage, "--requeue: {}; give a command: --requeue=COMMAND",
                  scheduler_.name.empty()
                      ? "this is not a job of a batch system that ckpt knows"
                      : scheduler_.name + " cannot put a job back into its queue");
    }
}

bool BatchOptions::resumes() const
{
    const Switch wanted = switch_from(resume_);
    return wanted == Switch::on ||
           (wanted == Switch::automatic && scheduler_.restarts > 0);
}

std::set<int> BatchOptions::warning_signals() const
{
    return parse_signals(warning_signals_);
}

bool BatchOptions::has_lost(const JobState &launch) const
{
    return scheduler_.restarts > 0 && launch.host != host_name();
}

int BatchOptions::end(const Ending &ending, bool is_saved, bool gets_on,
                      const std::string &name) const
{
    if (!is_saved && ending.exit_code == 0) {
        return exit_done; /* the program finished before it was saved */
    }
    /* Without progress between two requeues, a job that is too slow for its time
     * limit would be requeued for ever. */
    if (!gets_on && !is_preempted(scheduler_)) {
        fmt::print(stderr, "ckpt: the job ended with code {} and without a new checkpoint\n",
                   ending.exit_code);
        return ending.exit_code;
    }
    if (!requeue_.empty()) {
        ask_for_requeue(name);
    }
    return exit_resume;
}

void BatchOptions::ask_for_requeue(const std::string &name) const
{
    const std::string &command =
        requeue_ == by_scheduler ? scheduler_.requeue_command : requeue_;
    fmt::print(stderr, "ckpt: {}\n", command);
    const int status = std::system(command.c_str());
    const int code = status < 0 ? 127 : exit_code_of(status);
    if (code != 0) {
        fmt::print(stderr,
                   "ckpt: that has failed with code {}; to go on start the job again with "
                   "--resume --name {}\n",
                   code, name);
    }
}

} // namespace ckpt::cli
