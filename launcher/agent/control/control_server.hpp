/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control_server.hpp - receives commands of `ckpt` and sends the answers.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace ckpt
{

class ControlServer
{
  public:
    using ClientId = std::uint64_t; /* never 0 */

    struct Handlers {
        std::function<void(ClientId, const control::Request &)> request;
        std::function<void(ClientId)> gone; /* the client left before it got
                                               its answer */
    };

    ControlServer(EventLoop &loop, RejectedFrames &rejected, Handlers handlers);
    ~ControlServer();

    /* Takes the connection of a new command. */
    void accept(Fd socket);

    /* Sends one line. Every event except "progress" ends the connection. A
     * client that is gone or does not read is dropped. */
    void reply(ClientId client, const control::Reply &reply);

    /* Whether every client that sent a request has got its full answer. */
    bool idle() const;

  private:
    struct Client {
        Fd socket;
        std::string input;
        std::string output;
        bool asked = false;    /* its request has been read */
        bool answered = false; /* close when the output is sent */
    };

    void on_event(ClientId id, std::uint32_t events);
    bool read(ClientId id, Client &client);
    void take(ClientId id, const std::string &line);
    void rejected(Rejection why, const std::string &text);
    bool flush(Client &client);
    void drop(ClientId id);

    EventLoop &loop_;
    RejectedFrames &rejected_;
    Handlers handlers_;
    std::map<ClientId, Client> clients_;
    ClientId next_id_ = 1;
};

} // namespace ckpt
