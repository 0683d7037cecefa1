/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_library.cpp - looks for the library in /proc/PID/maps.
 */
#include "world/pmix_library.hpp"

#include <filesystem>
#include <fstream>

namespace ckpt::world
{

std::string pmix_library_of(pid_t process)
{
    std::ifstream maps(std::filesystem::path("/proc") / std::to_string(process) / "maps");

    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path != line.npos && line.find("/libpmix.so") != line.npos) {
            return line.substr(path);
        }
    }
    return "";
}

} // namespace ckpt::world
