/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_kind.hpp - the families of launchers, by their options.
 */
#pragma once

#include <string>

namespace ckpt::cli
{

enum class Launcher {
    open_mpi, /* mpirun, mpiexec, orterun, prterun */
    hydra,    /* mpiexec of MPICH */
    slurm,    /* srun */
    other,
};

/*
 * Decided by the file name of the program. mpirun and mpiexec may be of either
 * MPI: then by what they are links to and what is installed beside them; Open
 * MPI's if that does not tell. A name without a slash is looked up in PATH.
 */
Launcher launcher_of(const std::string &program);

} // namespace ckpt::cli
