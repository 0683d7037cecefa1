/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_memory.cpp - reads /proc/PID/statm.
 */
#include "image/memory/copy_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace ckpt
{

std::uint64_t memory_of_copies(const std::vector<pid_t> &processes)
{
    std::uint64_t pages = 0;

    for (const pid_t process : processes) {
        std::ifstream statm("/proc/" + std::to_string(process) + "/statm");
        std::uint64_t size, resident, of_files;
        if (statm >> size >> resident >> of_files) {
            pages += resident - std::min(resident, of_files);
        }
    }
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool has_room_for_copies(std::uint64_t bytes, bool are_others_kept, std::uint64_t available)
{
    const std::uint64_t sets = are_others_kept ? 1 : 2;

    return bytes <= available / 4 * 3 / sets;
}

} // namespace ckpt
