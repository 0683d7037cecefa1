/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_directory.cpp - the directory with the sockets of this user's agents and
 * commands.
 */
#include "config.h"
#include "common/files/run_directory.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdlib>
#include <string>

namespace ckpt
{

namespace
{

std::string environment_or(const char *name, const std::string &fallback)
{
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : fallback;
}

} // namespace

std::filesystem::path run_directory()
{
    const std::string base = environment_or("XDG_RUNTIME_DIR", "/tmp");
    return environment_or("CKPT_RUN_DIR", fmt::format("{}/ckpt-{}", base, ::getuid()));
}

} // namespace ckpt
