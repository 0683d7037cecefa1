/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_line.hpp - the command that starts a job again from a checkpoint.
 */
#pragma once

#include "cli/node_list.hpp"
#include "cli/run_line.hpp"

#include "image/tiers.hpp"

namespace ckpt::cli
{

struct RestartOptions {
    std::string mpirun; /* launcher to use; "": the recorded one */
    bool replace_options = false; /* by `options`, which may be empty */
    Words options;
    std::filesystem::path libraries;
    NodeList nodes; /* to use; empty: the recorded ones */
    Environment supervision; /* of this launch */
    Environment current; /* CKPT_* variables of the caller: they win over the
                            recorded ones */
};

/*
 * The recorded launcher and options, "-np N", then the restart program and the
 * checkpoint's directory in the place of the application. A program that was
 * started without a launcher is started so again.
 * directories: in which the job goes on.
 * Throws CommandError(exit_usage) for a wrong number of ranks and for
 * recorded options that cannot be taken over.
 */
Invocation restart_invocation(const TierDirectories &directories,
                              const Checkpoint &checkpoint,
                              const RestartOptions &options);

/* What the recorded launch did around the program and a restart does not, for the user; "": nothing.
 * A shell that started the program may have had more to do after it. */
std::string left_out(const Manifest &manifest);

/* Where the restart of a checkpoint that is on nodes finds the command, which gathers it
 * (gather/gathering.hpp): in the directory that all see. */
std::filesystem::path gather_file(const TierDirectories &directories, const std::string &job);

/* Launcher and options of a command that the user has given once more. Only srun's: it is no
 * parent of its ranks, and the agent could not record all of it. */
void take_srun(const Words &command, RestartOptions &options);

/* Variables of this process that begin with CKPT_. */
Environment ckpt_variables(char *const environment[]);

} // namespace ckpt::cli
