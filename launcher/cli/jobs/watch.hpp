/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.hpp - shows the status of a job continuously, across its restarts.
 */
#pragma once

#include "cli/jobs/jobs.hpp"

#include <chrono>
#include <string>

namespace ckpt::cli
{

/*
 * Shows the job that `word` names (find_job()) on standard output, and updates it every
 * `period`, until the job has ended or the user interrupts (SIGINT). After a failed
 * launch it waits as long as the job's `ckpt run` may restart the job. Throws
 * CommandError if there is no such job at the start.
 */
void watch_job(const TierDirectories &directories, const std::string &word,
               std::chrono::nanoseconds period);

} // namespace ckpt::cli
