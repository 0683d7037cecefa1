/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_kind.cpp - distinguishes Open MPI's mpirun from MPICH's.
 */
#include "cli/launchers/launcher_kind.hpp"

#include "cli/launchers/program_file.hpp"

#include <filesystem>
#include <optional>
#include <set>

namespace ckpt::cli
{

namespace fs = std::filesystem;

namespace
{

const std::set<std::string> open_mpi_names = {
    "mpirun.openmpi", "mpiexec.openmpi", "orterun", "prterun"};
const std::set<std::string> hydra_names = {
    "mpiexec.hydra", "mpirun.mpich", "mpiexec.mpich", "mpirun.hydra"};
const std::set<std::string> common_names = {"mpirun", "mpiexec"};

std::optional<Launcher> launcher_by_name(const std::string &name)
{
    if (open_mpi_names.contains(name)) {
        return Launcher::open_mpi;
    }
    if (hydra_names.contains(name)) {
        return Launcher::hydra;
    }
    if (name == "srun") {
        return Launcher::slurm;
    }
    if (name == "ckpt-launch") {
        return Launcher::ckpt;
    }
    return std::nullopt;
}

bool has_neighbour(const fs::path &program, const char *name)
{
    std::error_code error;
    return fs::exists(program.parent_path() / name, error);
}

} // namespace

Launcher launcher_of(const std::string &program)
{
    std::string name = fs::path(program).filename();
    if (auto launcher = launcher_by_name(name)) {
        return *launcher;
    }
    if (!common_names.contains(name)) {
        return Launcher::other;
    }
    std::error_code error;
    fs::path file = fs::canonical(found_in_path(program), error);
    if (error) {
        return Launcher::open_mpi;
    }
    if (auto launcher = launcher_by_name(file.filename())) {
        return *launcher;
    }
    return has_neighbour(file, "hydra_pmi_proxy") &&
                   !has_neighbour(file, "orterun") &&
                   !has_neighbour(file, "prterun")
               ? Launcher::hydra
               : Launcher::open_mpi;
}

} // namespace ckpt::cli
