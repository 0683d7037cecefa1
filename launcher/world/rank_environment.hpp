/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_environment.hpp - the environment of the ranks of a world, as lists of "NAME=VALUE".
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt::world
{

/* Returns the environment of this process without the variables of an outer launcher (srun,
 * mpirun), which would confuse the MPI library. */
std::vector<std::string> environment_without_launcher();

/* Returns `variables` with the additions; of two entries with one name, only the last. */
std::vector<std::string> merged(const std::vector<std::string> &variables,
                                const std::vector<std::string> &additions);

/* Whether ranks with this environment load MPICH. Otherwise they load Open MPI
 * (mpi-plugin/lower/library.c). */
bool uses_mpich(const std::vector<std::string> &environment);

} // namespace ckpt::world
