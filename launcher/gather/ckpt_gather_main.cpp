/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckpt_gather_main.cpp - runs in place of each rank before a restart from pieces on the nodes.
 * It becomes the restart program when the pieces are on the nodes that need them.
 *
 *     ckpt-gather CHECKPOINT_DIR
 */
#include "config.h"

#include "agent/supervision/supervisor_file.hpp"
#include "common/error.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "gather/gathering.hpp"
#include "gather/node_gatherer.hpp"
#include "image/seal/image_key.hpp"
#include "restart/place.hpp"
#include "settings/environment.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

namespace
{

namespace fs = std::filesystem;
using ckpt::fail;

ckpt::SupervisorFile find_command()
{
    const char *path = std::getenv(ckpt::gather::gather_variable);
    if (path == nullptr) {
        fail("{} is not set: this program is started by ckpt", ckpt::gather::gather_variable);
    }
    auto command = ckpt::SupervisorFile::read(path);
    if (!command) {
        fail("{} does not say where the command that restarts the job is", path);
    }
    return *command;
}

void gather(const fs::path &directory, int rank)
{
    const std::string host = ckpt::settings::from_environment("CKPT_HOST");
    ckpt::gather::NodeGatherer gatherer(
        directory, host.empty() ? ckpt::host_name() : host, rank, find_command(),
        ckpt::fabric::Choice::parse(ckpt::settings::from_environment("CKPT_FABRIC")));
    gatherer.run();
}

[[noreturn]] void become_rank(const char *directory)
{
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path() / "ckpt-restart";

    ckpt::require_sound();
    ::unsetenv(ckpt::gather::gather_variable);
    ::execl(program.c_str(), program.c_str(), directory, static_cast<char *>(nullptr));
    ckpt::fail_errno(errno, "cannot execute {}", program.string());
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2 || argv[1][0] == '-') {
        fmt::print(stderr, "usage: ckpt-gather CHECKPOINT_DIR\n"
                           "Started by 'ckpt run' and 'ckpt restart', once for each rank.\n");
        return 2;
    }
    int rank = 0;
    try {
        /* No log messages about the agents' connections. */
        spdlog::set_level(spdlog::level::off);
        ckpt::use_image_key(ckpt::key_source_of_environment());
        rank = ckpt::restart::place_in_launch().rank;
        gather(argv[1], rank);
        become_rank(argv[1]);
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckpt-gather: rank {}: {}\n", rank, error.what());
    }
    return 1;
}
