/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * jobs.hpp - finds the running job that a user names.
 */
#pragma once

#include "agent/control/control.hpp"
#include "cli/jobs/checkpoints.hpp"
#include "cli/base/command.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::cli
{

struct RunningJob {
    std::filesystem::path socket; /* where its agent, or its `ckpt run`, takes commands */
    control::Status status;
};

/*
 * Returns the jobs of this user with an agent or `ckpt run` on this host: those with a socket
 * in the run directory, and those that job.json files in the directories point to. A job with
 * several agents here is listed once, by its coordinator if that is here.
 */
std::vector<RunningJob> running_jobs(const TierDirectories &directories);

/* Returns the jobs with a socket in the run directory that report one of the directories by
 * name. Does not access the directories' file system, which may hang. */
std::vector<RunningJob> jobs_said_to_run_in(const TierDirectories &directories);

/* Returns those of running_jobs() that save to one of the directories. */
std::vector<RunningJob>
jobs_running_in(const TierDirectories &directories);

/*
 * Returns the job that `word` names: the process id of mpirun or of a rank, or a job's name. If
 * `word` is empty, returns the only job that runs in the directories; jobs with a socket in the
 * run directory come first. Throws CommandError with the reason if there is no such job:
 * exit_not_found, exit_refused, or exit_usage if there are several.
 */
RunningJob find_job(const TierDirectories &directories,
                    const std::string &word);

/*
 * The same, but waits up to `timeout_ms` for a job that is starting, or whose agent has died
 * and is being replaced.
 */
RunningJob find_started_job(const TierDirectories &directories,
                            const std::string &word, int timeout_ms);

/*
 * Waits up to `timeout_ms` until the agent of an ended job has ended too, or has given up the
 * job. Only for agents of this host; else returns at once. Throws Error.
 */
void wait_for_last_agent(const Tiers &tiers, const std::string &job,
                         int timeout_ms);

/* Waits up to `timeout_ms` until the process of the job's last agent has ended. Otherwise the
 * same. */
void wait_for_end_of_agent(const Tiers &tiers, const std::string &job, int timeout_ms);

/* Whether the program was started without a launcher. */
bool is_alone(const control::Status &status);

/* Returns the process by which a user knows the job: "mpirun 4711" or "process 4711"; "ckpt run
 * 4711" if it is swapped out. */
std::string launcher_text(const control::Status &status);

} // namespace ckpt::cli
