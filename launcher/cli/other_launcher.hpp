/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * other_launcher.hpp - options of one launcher in the words of another.
 */
#pragma once

#include "cli/launch_line.hpp"

namespace ckpt::cli
{

/*
 * The options of `line` for the launcher `to`, between mpirun of Open MPI and
 * mpiexec of MPICH. Variables and the working directory are taken over; what
 * only concerns the one launcher is left out. Throws CommandError(exit_usage)
 * that names the first option that says more, as where ranks are to run.
 */
std::vector<LaunchOption> options_for_other(const LaunchLine &line,
                                            Launcher to);

/* The option that gives a variable to all ranks. */
LaunchOption exported(Launcher launcher, const std::string &name,
                      const std::string &value);

/* The name of the variable that an option gives to the ranks, or "". */
std::string exported_name(const LaunchOption &option);

/* Of such an option: 0 for -x NAME, which hands on what mpirun itself was
 * given; and the value. */
bool has_exported_value(const LaunchOption &option);
std::string exported_value(const LaunchOption &option);

} // namespace ckpt::cli
