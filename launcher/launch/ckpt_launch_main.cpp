/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_launch_main.cpp - starts the ranks of a job (launch_options.hpp).
 */
#include "config.h"

#include "launch/launch.hpp"
#include "launch/launch_options.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

int main(int argc, char **argv)
{
    auto options = ckpt::launch::parse_options(argc, argv);

    try {
        const auto own = std::filesystem::read_symlink("/proc/self/exe");
        return ckpt::launch::Launch(std::move(options), own.parent_path()).run();
    } catch (const std::exception &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
    }
    return 1;
}
