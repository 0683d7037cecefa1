/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slurm_nodes.hpp - the nodes of a Slurm allocation that remain after others were lost.
 *
 * With --no-kill an allocation survives the loss of nodes, but the variables that describe
 * it to mpirun and srun do not change.
 */
#pragma once

#include "cli/jobs/settings.hpp"

namespace ckpt::cli
{

/* Returns updated variables; empty if nothing has changed or this is not a Slurm job. */
Environment slurm_nodes_left();

/*
 * The same, without asking Slurm. before, now: names of the nodes; `now` is a subset of
 * `before`. tasks, processors: the old SLURM_TASKS_PER_NODE and SLURM_JOB_CPUS_PER_NODE,
 * such as "2(x3),1". Returns an empty result if they do not match.
 */
Environment variables_of_nodes(const Words &before, const Words &now, const std::string &tasks,
                               const std::string &processors);

} // namespace ckpt::cli
