/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output_files.hpp - files that a launcher writes the output of the ranks into: a later launch
 * of the job continues them.
 */
#pragma once

#include "cli/run_line.hpp"

#include <filesystem>

namespace ckpt::cli
{

/*
 * Beginnings of the absolute paths of those files. directory: in which the launcher runs.
 * srun is not asked: it can continue them by itself.
 */
Words output_paths(const LaunchLine &line, const std::filesystem::path &directory);

/* Has the launcher append to its files. A command whose options are not known stays. */
void continue_output_files(Invocation &invocation, const std::filesystem::path &libraries);

} // namespace ckpt::cli
