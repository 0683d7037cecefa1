/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_facts.hpp - how the job was started, as /proc tells.
 */
#pragma once

#include "image/manifest.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace ckpt
{

struct LaunchFacts {
    pid_t launcher_pid = 0; /* 0: no launcher among the rank's ancestors */
    std::vector<std::string> launcher;
    std::string launcher_directory;
    std::vector<std::string> application; /* argv of the rank */
    std::vector<std::string> waiting_parent; /* argv of its parent, if the launcher started that */
    std::string program;                  /* name of its executable */
    std::string directory;                /* its working directory */
};

/* Walks up from a rank to mpirun, orterun, prterun, mpiexec or srun. Parts that
 * cannot be read stay empty. A rank that is alone is its own launcher, whatever
 * started the shell around it. */
LaunchFacts read_launch_facts(pid_t rank, bool alone = false);

/*
 * What `ckpt restart` has to start again. In a job that was itself restarted
 * the launcher's argv ends in the restart program: there stands the
 * application instead, so that a restart can be restarted.
 */
Launch launch_record(const LaunchFacts &facts, char *const environment[]);

} // namespace ckpt
