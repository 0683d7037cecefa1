/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output_files.hpp - files into which a launcher writes the output of the ranks; a later
 * launch of the job appends to them.
 */
#pragma once

#include "cli/run/run_line.hpp"

#include <filesystem>

namespace ckpt::cli
{

/*
 * Returns prefixes of the absolute paths of those files. directory: the launcher's working
 * directory. Not for srun, which can append by itself.
 */
Words output_paths(const LaunchLine &line, const std::filesystem::path &directory);

/* Makes the launcher append to its files. Leaves a command with unknown options unchanged. */
void continue_output_files(Invocation &invocation, const std::filesystem::path &libraries);

} // namespace ckpt::cli
