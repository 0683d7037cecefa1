/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_facts.hpp - how the job was started, read from /proc.
 */
#pragma once

#include "image/store/manifest.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace ckpt
{

struct LaunchFacts {
    pid_t launcher_pid = 0; /* 0: no launcher among the rank's ancestors */
    std::vector<std::string> launcher;
    std::string launcher_directory;
    std::vector<std::string> application;    /* argv of the rank */
    std::vector<std::string> waiting_parent; /* argv of the rank's parent, if the launcher
                                                started the parent */
    std::string program;                     /* name of the rank's executable */
    std::string directory;                   /* working directory of the rank */
};

/* Walks up from a rank to mpirun, orterun, prterun, mpiexec or srun. Parts
 * that cannot be read stay empty. alone: the rank is a program without a
 * launcher. Then it counts as its own launcher, whatever started the shell
 * around it. */
LaunchFacts read_launch_facts(pid_t rank, bool alone = false);

/*
 * Returns the command that `ckpt restart` has to start again. In a restarted
 * job, the launcher's argv ends in the restart program. The application
 * replaces that program here, so that a restarted job can be restarted.
 */
Launch launch_record(const LaunchFacts &facts, char *const environment[]);

} // namespace ckpt
