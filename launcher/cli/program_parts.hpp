/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program_parts.hpp - a launcher's command with several programs (MPMD), taken apart: each has
 * options and a number of ranks of its own.
 */
#pragma once

#include "cli/launch_line.hpp"

#include <filesystem>
#include <vector>

namespace ckpt::cli
{

/*
 * One line for each program of `command`, in the order of the ranks; all have its launcher. What
 * is before an appfile (--app, -configfile) is in the first of its lines. directory: in which
 * the launcher ran, for the path of that file. application: the argv of rank 0, as for
 * parse_launch_line(). Throws CommandError(exit_usage) for words that cannot be understood, and
 * Error for an appfile that cannot be read.
 */
std::vector<LaunchLine> program_parts(const Words &command, const Words &application,
                                      const std::filesystem::path &directory);

/*
 * How many ranks each of them has, of `ranks` in all; one that does not say has the rest. Empty
 * if that cannot be.
 */
std::vector<int> ranks_of_parts(const std::vector<LaunchLine> &parts, int ranks);

/* The command that means the same. At least one part. */
Words join_program_parts(const std::vector<LaunchLine> &parts);

} // namespace ckpt::cli
