/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_line.hpp - a user's launch command with checkpointing enabled.
 */
#pragma once

#include "cli/launchers/launch_line.hpp"
#include "cli/jobs/settings.hpp"

namespace ckpt::cli
{

/* A command, and the environment variables that it needs. */
struct Invocation {
    Words command;
    Environment environment;
    std::filesystem::path directory; /* to run in; empty: the current one */
    /* A program without a launcher; its process is told that it is the rank. */
    bool non_mpi = false;
    int input = -1; /* descriptor for its standard input; -1: that of this process */
    /* To be passed to remove_launch_file() when the launch has ended. */
    std::filesystem::path tune_file{};
};

/*
 * Enables the plugin in `command`:
 *   mpirun: adds a tune file of this launch to the options (to the user's own --tune, if any);
 *   hydra:  adds -genv options;
 *   srun:   adds the variables to --export, and --mpi=pmix if no --mpi is given;
 *   other:  a program without a launcher: sets the variables for the program itself.
 * The user's own LD_PRELOAD, in the environment (`preload`) or from -x, follows that of the
 * plugin. Throws CommandError(exit_usage).
 */
Invocation with_plugin(const Words &command,
                       const std::filesystem::path &libraries,
                       const std::string &preload,
                       const Environment &settings);

/* Returns a command in the form that a shell reads: a, 'b c'. */
std::string shell_words(const Words &words);

} // namespace ckpt::cli
