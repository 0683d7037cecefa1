/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch_options.hpp - the options of `ckpt run` for batch jobs: how a requeued job starts,
 * and how a job ends when the scheduler needs its nodes.
 */
#pragma once

#include "cli/base/command.hpp"
#include "cli/run/supervised_launch.hpp"
#include "cli/run/scheduler.hpp"
#include "image/store/store.hpp"

#include <set>
#include <string>

namespace ckpt::cli
{

class BatchOptions
{
  public:
    void declare(CLI::App &app);

    /* Throws CommandError(exit_usage) for invalid values. */
    void check() const;

    const Scheduler &scheduler() const { return scheduler_; }

    /* Whether the job starts from its newest checkpoint, if it has one. */
    bool resumes() const;

    /* Returns the signals that announce the end of the job. */
    std::set<int> warning_signals() const;

    /* Whether the launch ran on a node that the scheduler has given up. The scheduler has
     * requeued the job, and the launch ran on another host. */
    bool has_lost(const JobState &launch) const;

    /*
     * Ends the job `name` after a warning signal; requests a requeue if the user wants
     * that. Returns the exit code. is_saved: the warning's checkpoint was committed.
     * gets_on: the job has a newer checkpoint than at its start.
     */
    int end(const Ending &ending, bool is_saved, bool gets_on, const std::string &name) const;

  private:
    void ask_for_requeue(const std::string &name) const;

    const Scheduler scheduler_ = current_scheduler();
    std::string resume_;
    std::string warning_signals_;
    std::string requeue_; /* "": no; "yes": with the scheduler's command; else a command */
};

} // namespace ckpt::cli
