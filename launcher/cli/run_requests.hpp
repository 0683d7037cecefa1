/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_requests.hpp - where a running `ckpt run` takes commands: swap, resume, migrate.
 */
#pragma once

#include "agent/control_server.hpp"
#include "agent/listener.hpp"
#include "image/tiers.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace ckpt::cli
{

/* Of the `ckpt run` of this user, on this host, that has started a job. It takes `swap`,
 * `resume` and `migrate`, and passes on what is for the agent that coordinates. */
std::filesystem::path run_socket(const TierDirectories &directories, const std::string &job);

/* Likewise, where processes of its launcher say that they are there. */
std::filesystem::path started_socket(const TierDirectories &directories,
                                     const std::string &job);

class RunRequests
{
  public:
    using ClientId = ControlServer::ClientId;
    using Handler = std::function<void(ClientId, const control::Request &)>;

    /* Throws Error. `loop` must live longer. */
    RunRequests(EventLoop &loop, const TierDirectories &directories, const std::string &job);

    /* Who gets them from now on. */
    void handle(Handler handler) { handler_ = std::move(handler); }
    void reply(ClientId client, const control::Reply &reply) { server_.reply(client, reply); }
    void reply_error(ClientId client, const std::string &text);
    /* There is no agent that can answer it yet. */
    void reply_starting(ClientId client, const control::Request &request);

  private:
    const TierDirectories directories_;
    const std::string job_;
    Refusals refusals_;
    Handler handler_;
    ControlServer server_;
    Listener listener_;
};

} // namespace ckpt::cli
