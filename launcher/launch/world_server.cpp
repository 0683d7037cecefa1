/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_server.cpp - the process of ckpt-world.
 */
#include "launch/world_server.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"
#include "world/world.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

#include <sys/socket.h>

namespace ckpt::launch
{

namespace fs = std::filesystem;

namespace
{

constexpr int longest_end = 5000; /* ms */

void remove_directory(const fs::path &directory)
{
    std::error_code error;
    fs::remove_all(directory, error);
    if (error) {
        fmt::print(stderr, "ckpt: cannot remove {}: {}\n", directory.string(), error.message());
    }
}

} // namespace

WorldServer::WorldServer(EventLoop &loop, std::vector<std::string> command,
                         const std::vector<std::string> &environment, const sigset_t &mask,
                         Hooks hooks)
    : directory_(world::make_temporary_directory())
{
    try {
        auto [own, theirs] = connected_pair(SOCK_STREAM, "cannot make a socket");
        command.insert(command.end(), {"--directory", directory_.string()});
        process_.emplace(ChildStart{std::move(command), environment, {}, mask, theirs.get()});
        channel_.emplace(loop, std::move(own), std::move(hooks.received), std::move(hooks.gone));
    } catch (...) {
        remove_directory(directory_);
        throw;
    }
}

WorldServer::~WorldServer()
{
    channel_.reset(); /* ends the server, which removes what the ranks have left in memory files */
    (void)process_->await_status(longest_end);
    remove_directory(directory_);
}

bool WorldServer::reap(pid_t process)
{
    CKPT_EXPECT(process_);
    return process == process_->pid() && process_->take_status().has_value();
}

} // namespace ckpt::launch
