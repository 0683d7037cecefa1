/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * other_launcher.hpp - translates options of one launcher to those of another.
 */
#pragma once

#include "cli/launchers/launch_line.hpp"

namespace ckpt::cli
{

/*
 * Translates the options of `line` for the launcher `to`, between mpirun of
 * Open MPI, mpiexec of MPICH and ckpt-launch. Keeps variables and the working directory;
 * drops options that only concern one launcher. Throws CommandError(exit_usage)
 * naming the first other option, for example an option that places ranks.
 */
std::vector<LaunchOption> options_for_other(const LaunchLine &line,
                                            Launcher to);

/* Returns the option that sets a variable for all ranks. */
LaunchOption exported(Launcher launcher, const std::string &name,
                      const std::string &value);

/* Returns the name of the variable that an option sets for the ranks, or "". */
std::string exported_name(const LaunchOption &option);

/* For such an option: whether it has a value, and the value. -x NAME has none;
 * it passes on the variable of mpirun's own environment. */
bool has_exported_value(const LaunchOption &option);
std::string exported_value(const LaunchOption &option);

} // namespace ckpt::cli
