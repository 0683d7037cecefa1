/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * run_requests.hpp - the control socket of a running `ckpt run`: swap, resume, migrate.
 */
#pragma once

#include "agent/control/control_server.hpp"
#include "agent/base/listener.hpp"
#include "image/store/tiers.hpp"

#include <filesystem>
#include <functional>
#include <string>

namespace ckpt::cli
{

/* Returns the socket of the `ckpt run`, of this user on this host, that has started a
 * job. It accepts `swap`, `resume` and `migrate`, and passes other requests to the
 * coordinating agent. */
std::filesystem::path run_socket(const TierDirectories &directories, const std::string &job);

/* Returns the socket on which processes of its launcher announce themselves. */
std::filesystem::path started_socket(const TierDirectories &directories,
                                     const std::string &job);

class RunRequests
{
  public:
    using ClientId = ControlServer::ClientId;
    using Handler = std::function<void(ClientId, const control::Request &)>;

    /* Throws Error. `loop` must outlive this object. */
    RunRequests(EventLoop &loop, const TierDirectories &directories, const std::string &job);

    /* Sets the handler of requests from now on. */
    void handle(Handler handler) { handler_ = std::move(handler); }
    void reply(ClientId client, const control::Reply &reply) { server_.reply(client, reply); }
    void refuse(ClientId client, const Refusal &why);
    /* Replies that no agent can answer yet. */
    void reply_starting(ClientId client, const control::Request &request);

  private:
    const TierDirectories directories_;
    const std::string job_;
    RejectedFrames rejected_;
    Handler handler_;
    ControlServer server_;
    Listener listener_;
};

} // namespace ckpt::cli
