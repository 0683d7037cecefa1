/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slurm_nodes.hpp - the nodes of a Slurm allocation that are left when some have been lost.
 *
 * With --no-kill an allocation survives its nodes, but the variables that tell mpirun and
 * srun of them stay as they were.
 */
#pragma once

#include "cli/settings.hpp"

namespace ckpt::cli
{

/* The variables as they are now; empty if nothing has changed or this is no job of Slurm. */
Environment slurm_nodes_left();

/*
 * The same without asking anybody.
 * before, now: names of the nodes; those of now are among the others.
 * tasks, processors: SLURM_TASKS_PER_NODE and SLURM_JOB_CPUS_PER_NODE as they were, such as
 * "2(x3),1". Empty if they do not fit.
 */
Environment variables_of_nodes(const Words &before, const Words &now, const std::string &tasks,
                               const std::string &processors);

} // namespace ckpt::cli
