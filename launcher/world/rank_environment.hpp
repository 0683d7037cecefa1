/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_environment.hpp - the environment of the ranks of a world, as lists of "NAME=VALUE", and
 * what it depends on.
 */
#pragma once

#include <cstddef>
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

/* Returns how many processors this process, and so the ranks of its node, may use. */
std::size_t usable_processors();

} // namespace ckpt::world
