/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_line.hpp - parses the command line of a launcher.
 *
 * `ckpt run` uses it to add the tune file to a command. `ckpt restart` uses it to replace the
 * application by the restart program. Performs no I/O, except to find out which MPI mpirun
 * belongs to.
 */
#pragma once

#include "cli/base/command.hpp"
#include "cli/launchers/launcher_kind.hpp"

namespace ckpt::cli
{

/* One option of the launcher, with its values. */
struct LaunchOption {
    std::string name; /* canonical name without dashes: "np", "tune" */
    Words values;
    Words words; /* as written in the command */
};

struct LaunchLine {
    Launcher launcher = Launcher::other;
    std::string program;
    std::vector<LaunchOption> options;
    Words application;             /* the program with its arguments */
    bool several_programs = false; /* MPMD: has a ':' or an appfile */

    const LaunchOption *find(const std::string &name) const;
    void remove(const std::string &name);
};

/*
 * Parses a command line. `application` is the argv of the program, if known. Then unknown
 * options are accepted, because it is known where they end. Throws CommandError(exit_usage)
 * naming the first word that is not understood.
 */
LaunchLine parse_launch_line(const Words &command,
                             const Words &application = {});

/* The same for options only, without a program before or after them. */
std::vector<LaunchOption> parse_launch_options(Launcher launcher,
                                               const Words &words);

/* Makes srun offer PMIx to its ranks, unless its options select another interface. */
void add_pmix(LaunchLine &line);

/* Returns an equivalent command line. */
Words join_launch_line(const LaunchLine &line);

} // namespace ckpt::cli
