/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_options.hpp - the command line of ckpt-launch. Its options are those of Open MPI's
 * mpirun with the same names.
 *
 *     ckpt-launch -n RANKS [-x NAME[=VALUE]]... [--wdir DIR] [--bind-to WHAT]
 *                 PROGRAM ARGUMENTS...
 *
 * --keep-going is a variable for `ckpt run`, because options are recorded in checkpoints.
 */
#pragma once

#include "launch/binding.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::launch
{

/* Set to 1: --keep-going. */
inline constexpr const char *keep_going_variable = "CKPT_KEEP_GOING";

struct LaunchOptions {
    int ranks = 0;
    /* "NAME=VALUE" of all ranks, in addition to the environment of this process. */
    std::vector<std::string> variables;
    /* Working directory of the ranks; empty: that of this process. */
    std::filesystem::path directory;
    BindTo bind_to = BindTo::automatic;
    std::string pmix; /* PMIx library of the server */
    /* No end of a rank ends other ranks. */
    bool keeps_going = false;
    /* Time for ckpt-world to start and to make the world known. */
    std::chrono::milliseconds start_limit = std::chrono::seconds(60);
    std::vector<std::string> program;
};

/* Parses the command line. Ends the process for --help and --version, and with 2 if the command
 * line is wrong. */
LaunchOptions parse_options(int argc, char **argv);

} // namespace ckpt::launch
