/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_environment.cpp - lists of variables.
 */
#include "world/rank_environment.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <string_view>

extern "C" {
#include "base/launcher_variables.h"
}

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

} // namespace ckpt::world
