/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processes.cpp - what is known of a process from its id.
 */
#include "common/processes.hpp"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace ckpt
{

bool is_running(std::int64_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text; /* "pid (name) state ..."; the name may hold anything */

    std::getline(file, text);
    std::size_t end = text.rfind(") ");
    return end != text.npos && end + 2 < text.size() && text[end + 2] != 'Z' &&
           text[end + 2] != 'X';
}

} // namespace ckpt
