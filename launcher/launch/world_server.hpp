/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_server.hpp - starts ckpt-world, and owns its temporary directory.
 */
#pragma once

#include "common/event_loop.hpp"
#include "launch/child_process.hpp"
#include "world/channel.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt::launch
{

class WorldServer
{
  public:
    struct Hooks {
        std::function<void(const world::Message &message)> received;
        /* It has ended, or does not understand this process. why: "" if it says nothing. */
        std::function<void(const std::string &why)> gone;
    };

    /* Starts the server with this command line, to which its directory is added. mask: signals
     * blocked in the server. Only for a process with one thread. Throws Error. */
    WorldServer(EventLoop &loop, std::vector<std::string> command,
                const std::vector<std::string> &environment, const sigset_t &mask, Hooks hooks);
    /* Ends the server, and removes its directory. */
    ~WorldServer();
    WorldServer(const WorldServer &) = delete;
    WorldServer &operator=(const WorldServer &) = delete;

    const std::filesystem::path &directory() const { return directory_; }
    /* Returns false if the server has gone. */
    [[nodiscard]] bool send(const world::Message &message) { return channel_->send(message); }
    /* Reaps the server if it is this ended process; returns whether it is. */
    bool reap(pid_t process);
    /* See world::Channel. */
    Fd take_descriptor() { return channel_->take_descriptor(); }

  private:
    std::filesystem::path directory_;
    std::optional<ChildProcess> process_;
    std::optional<world::Channel> channel_;
};

} // namespace ckpt::launch
