/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_line.hpp - the command that restarts a job from a checkpoint.
 */
#pragma once

#include "cli/launchers/node_list.hpp"
#include "cli/run/run_line.hpp"

#include "image/store/tiers.hpp"

namespace ckpt::cli
{

struct RestartOptions {
    std::string mpirun; /* launcher to use; "": the recorded one */
    /* Use `options`, which may be empty, instead of the recorded ones. */
    bool replace_options = false;
    Words options;
    std::filesystem::path libraries;
    NodeList nodes;          /* nodes to use; empty: the recorded ones */
    Environment supervision; /* variables for this launch */
    Environment current;     /* CKPT_* variables of the caller; they override the recorded ones */
};

/*
 * Returns the recorded launcher and options, "-np N", then the restart program and the
 * checkpoint's directory in place of the application. A program that was started without a
 * launcher restarts without one. directories: those in which the job continues. Throws
 * CommandError(exit_usage) for a wrong number of ranks, and for recorded options that cannot be
 * translated.
 */
Invocation restart_invocation(const TierDirectories &directories,
                              const Checkpoint &checkpoint,
                              const RestartOptions &options);

/* Describes, for the user, the parts of the recorded launch that a restart leaves out; "":
 * none. For example, a shell that started the program may have had further commands. */
std::string left_out(const Manifest &manifest);

/* Returns the file, in the directory that all nodes see, through which the nodes find the
 * process that gathers the checkpoint (gather/gathering.hpp). */
std::filesystem::path gather_file(const TierDirectories &directories, const std::string &job);

/* Takes launcher and options from a command that the user gives again. Only for srun: the agent
 * could not record its whole command, because srun is not the parent of its ranks. */
void take_srun(const Words &command, RestartOptions &options);

/* Returns the variables of an environment that begin with CKPT_. */
Environment ckpt_variables(char *const environment[]);

} // namespace ckpt::cli
