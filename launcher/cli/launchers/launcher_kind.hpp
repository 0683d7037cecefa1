/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_kind.hpp - families of launchers with the same options.
 */
#pragma once

#include <string>

namespace ckpt::cli
{

enum class Launcher {
    open_mpi, /* mpirun, mpiexec, orterun, prterun */
    hydra,    /* mpiexec of MPICH */
    slurm,    /* srun */
    ckpt,     /* ckpt-launch */
    other,
};

/*
 * Decides by the program's file name. mpirun and mpiexec may belong to either
 * MPI; then their link target and the files installed beside them decide.
 * Returns open_mpi if these do not tell. A name without a slash is looked up in
 * PATH.
 */
Launcher launcher_of(const std::string &program);

} // namespace ckpt::cli
