/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_line.hpp - the command line of a launcher, taken apart.
 *
 * Needed twice: `ckpt run` adds the tune file to a command, and `ckpt restart`
 * puts the restart program in the place of the application. No I/O but a look at what mpirun is.
 */
#pragma once

#include "cli/command.hpp"
#include "cli/launcher_kind.hpp"

namespace ckpt::cli
{

/* One option of the launcher, with its values. */
struct LaunchOption {
    std::string name; /* without dashes; synonyms made one: "np", "tune" */
    Words values;
    Words words; /* as they were written */
};

struct LaunchLine {
    Launcher launcher = Launcher::other;
    std::string program;
    std::vector<LaunchOption> options;
    Words application;             /* with its arguments */
    bool several_programs = false; /* MPMD: a ':' in it, or an appfile */

    const LaunchOption *find(const std::string &name) const;
    void remove(const std::string &name);
};

/*
 * Takes a command line apart. `application` is the argv of the program if it
 * is known: then options this file has never heard of are accepted, because it
 * is known where they end. Throws CommandError(exit_usage) that names the
 * first word that cannot be understood.
 */
LaunchLine parse_launch_line(const Words &command,
                             const Words &application = {});

/* The same for options alone, without a program before and after them. */
std::vector<LaunchOption> parse_launch_options(Launcher launcher,
                                               const Words &words);

/* Has srun talk PMIx to its ranks, unless its options tell another way. */
void add_pmix(LaunchLine &line);

/* A command line that means the same. */
Words join_launch_line(const LaunchLine &line);

} // namespace ckpt::cli
