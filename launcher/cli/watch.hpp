/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.hpp - follows a job with the eyes of a person, over its restarts.
 */
#pragma once

#include "cli/jobs.hpp"

#include <chrono>
#include <string>

namespace ckpt::cli
{

/*
 * Shows the job that `word` means (find_job()) on standard output, anew every `period`,
 * until it has ended or the user interrupts this (SIGINT). A job whose launch has failed
 * is waited for as long as the `ckpt run` that started it may start it again. Throws
 * CommandError if there is no such job in the beginning.
 */
void watch_job(const TierDirectories &directories, const std::string &word,
               std::chrono::nanoseconds period);

} // namespace ckpt::cli
