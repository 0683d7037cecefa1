/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_environment.cpp - lists of variables, and the processors of this node.
 */
#include "world/rank_environment.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string_view>

extern "C" {
#include "base/launcher_variables.h"
}

#include <sched.h>
#include <unistd.h>

namespace ckpt::world
{

std::vector<std::string> environment_without_launcher()
{
    std::vector<std::string> variables;
    for (char **entry = environ; *entry != nullptr; entry++) {
        if (ckpt_is_of_launcher(*entry) == 0) {
            variables.emplace_back(*entry);
        }
    }
    return variables;
}

std::vector<std::string> merged(const std::vector<std::string> &variables,
                                const std::vector<std::string> &additions)
{
    std::map<std::string, std::string, std::less<>> by_name;
    std::vector<std::string> result;

    for (const auto *list : {&variables, &additions}) {
        for (const std::string &entry : *list) {
            by_name[entry.substr(0, entry.find('='))] = entry;
        }
    }
    for (const auto &[name, entry] : by_name) {
        result.push_back(entry);
    }
    return result;
}

bool uses_mpich(const std::vector<std::string> &environment)
{
    const std::string variable = "CKPT_LIBMPI=";
    std::string library;

    for (const std::string &entry : environment) {
        if (entry.starts_with(variable)) {
            library = std::filesystem::path(entry.substr(variable.size())).filename();
        }
    }
    return library.starts_with("libmpi.so.12") || library.starts_with("libmpich.");
}

std::size_t usable_processors()
{
    std::array<cpu_set_t, 8> processors{}; /* as many as Linux can have */

    if (sched_getaffinity(0, sizeof processors, processors.data()) != 0) {
        return std::numeric_limits<std::size_t>::max(); /* not known: none is yielded */
    }
    return static_cast<std::size_t>(CPU_COUNT_S(sizeof processors, processors.data()));
}

} // namespace ckpt::world
