/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_line.hpp - a user's launch command, with checkpointing switched on.
 */
#pragma once

#include "cli/launch_line.hpp"
#include "cli/settings.hpp"

namespace ckpt::cli
{

/* A command, and the variables to be set for it. */
struct Invocation {
    Words command;
    Environment environment;
    std::filesystem::path directory; /* to run in; empty: the current one */
    bool alone = false; /* a program: its process is told that it is the rank */
    int input = -1; /* to be its standard input; -1: ours */
    std::filesystem::path tune_file{}; /* remove_launch_file() when the launch has ended */
};

/*
 * Switches the plugin on in `command`:
 * mpirun: a tune file of this launch is added to its options (to the user's own, if any);
 * hydra:  -genv options are added;
 * srun:   --export gets the variables, --mpi=pmix is added if none is given;
 * other:  a program, alone: the variables are set for itself.
 * A user's own LD_PRELOAD, in the environment (`preload`) or by -x, follows
 * ours. Throws CommandError(exit_usage).
 */
Invocation with_plugin(const Words &command,
                       const std::filesystem::path &libraries,
                       const std::string &preload,
                       const Environment &settings);

/* "a, 'b c'": a command as a shell reads it. */
std::string shell_words(const Words &words);

} // namespace ckpt::cli
