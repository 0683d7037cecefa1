/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_parts.hpp - splits a launcher's command with several programs (MPMD); each program
 * has its own options and number of ranks.
 */
#pragma once

#include "cli/launchers/launch_line.hpp"

#include <filesystem>
#include <vector>

namespace ckpt::cli
{

/*
 * Returns one line for each program of `command`, in rank order, all with its launcher. Options
 * before an appfile (--app, -configfile) go to the first line. directory: the launcher's
 * working directory, for the path of the appfile. application: the argv of rank 0, as for
 * parse_launch_line(). Throws CommandError(exit_usage) for words that it does not understand,
 * and Error for an appfile that cannot be read.
 */
std::vector<LaunchLine> program_parts(const Words &command, const Words &application,
                                      const std::filesystem::path &directory);

/*
 * Returns the number of ranks of each part, with `ranks` as the total. A part without a number
 * gets the remaining ranks. Returns an empty vector if the numbers do not fit.
 */
std::vector<int> ranks_of_parts(const std::vector<LaunchLine> &parts, int ranks);

/* Returns an equivalent command. There must be at least one part. */
Words join_program_parts(const std::vector<LaunchLine> &parts);

} // namespace ckpt::cli
