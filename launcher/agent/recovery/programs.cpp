/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * programs.cpp - the directory of the agent's own program. The agent with libfabric lies one level
 * below the others.
 */
#include "agent/recovery/programs.hpp"

#include <filesystem>

namespace ckpt
{

std::string own_program(const std::string &name)
{
    const auto own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto directory = own.filename() == "fabric" ? own.parent_path() : own;

    return directory / name;
}

} // namespace ckpt
