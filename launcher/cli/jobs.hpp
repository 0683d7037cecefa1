/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jobs.hpp - find the running job that a user means.
 */
#pragma once

#include "agent/control.hpp"
#include "cli/checkpoints.hpp"
#include "cli/command.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::cli
{

struct RunningJob {
    std::filesystem::path socket; /* where its agent takes commands, or `ckpt run` for it */
    control::Status status;
};

/*
 * Jobs of this user with an agent or their `ckpt run` on this host: all that listen in the run
 * directory, and those that job.json files in the directories point at. A job with
 * several agents here is listed once, by its coordinator if that is here.
 */
std::vector<RunningJob> running_jobs(const TierDirectories &directories);

/* Those that listen in the run directory and say that their checkpoints go to one of the
 * directories, by its name: without a look at their file system, which may hang. */
std::vector<RunningJob> jobs_said_to_run_in(const TierDirectories &directories);

/* Those of running_jobs() whose checkpoints go to one of the directories. */
std::vector<RunningJob>
jobs_running_in(const TierDirectories &directories);

/*
 * The job that `word` means: mpirun's process id (or that of a rank), a job's
 * name, or, if empty, the only job running in the directories: of those that listen in the run
 * directory, if one is known by that. Throws CommandError
 * that says why there is none: exit_not_found, exit_refused, or exit_usage if
 * there are several.
 */
RunningJob find_job(const TierDirectories &directories,
                    const std::string &word);

/*
 * The same, but a job that is just starting, or whose agent has died and is
 * being replaced, is waited for, at most `patience_ms`.
 */
RunningJob find_started_job(const TierDirectories &directories,
                            const std::string &word, int patience_ms);

/*
 * Waits until the agent of an ended job has ended too, or given the job back, at most
 * `timeout_ms`. For agents of this host; else returns at once. Throws Error.
 */
void wait_for_last_agent(const Tiers &tiers, const std::string &job,
                         int timeout_ms);

/* Waits until the process of the job's last agent has ended, at most `timeout_ms`. Likewise. */
void wait_for_end_of_agent(const Tiers &tiers, const std::string &job, int timeout_ms);

/* True for a program that was started without a launcher. */
bool is_alone(const control::Status &status);

/* "mpirun 4711", or "process 4711": who a user knows the job by; "ckpt run 4711" of one that
 * is swapped out. */
std::string launcher_text(const control::Status &status);

} // namespace ckpt::cli
