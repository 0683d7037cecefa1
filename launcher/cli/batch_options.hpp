/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * batch_options.hpp - the options of `ckpt run` for batch jobs: how it begins when the
 * scheduler has started it again, and how it ends when the scheduler needs the nodes.
 */
#pragma once

#include "cli/command.hpp"
#include "cli/supervised_launch.hpp"
#include "cli/scheduler.hpp"
#include "image/store.hpp"

#include <set>
#include <string>

namespace ckpt::cli
{

class BatchOptions
{
  public:
    void declare(CLI::App &app);

    /* Throws CommandError(exit_usage) for values that make no sense here. */
    void check() const;

    const Scheduler &scheduler() const { return scheduler_; }

    /* The job is to begin with its newest checkpoint, if it has one. */
    bool resumes() const;

    /* That announce the end. */
    std::set<int> warning_signals() const;

    /* True for a launch that ran on a node which the scheduler has given up: it would not
     * have started the job again otherwise. */
    bool has_lost(const JobState &launch) const;

    /*
     * To be called when the job `name` has ended after a warning. Asks for it to be started
     * again, if that was wanted. Returns the exit code.
     * is_saved: by the checkpoint that the warning has asked for.
     * gets_on: it has a checkpoint that is newer than those it has begun with.
     */
    int end(const Ending &ending, bool is_saved, bool gets_on, const std::string &name) const;

  private:
    void ask_for_requeue(const std::string &name) const;

    const Scheduler scheduler_ = current_scheduler();
    std::string resume_ = "auto";
    std::string warning_signals_;
    std::string requeue_; /* "": no; "yes": by the scheduler's command; a command */
};

} // namespace ckpt::cli
