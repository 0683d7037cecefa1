/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel.hpp - one end of the socket between ckpt-world and its client.
 */
#pragma once

#include "common/event_loop.hpp"
#include "world/world_message.hpp"

#include <deque>
#include <functional>
#include <span>

namespace ckpt::world
{

class Channel
{
  public:
    using Received = std::function<void(const Message &message)>;
    using Closed = std::function<void(const std::string &why)>; /* why: "" for an orderly end */

    /* socket: a connected stream socket, which both ends trust. After `closed` there are no more
     * messages. Handlers must not destroy the object. */
    Channel(EventLoop &loop, Fd socket, Received received, Closed closed);
    ~Channel();
    Channel(const Channel &) = delete;
    Channel &operator=(const Channel &) = delete;

    /* Waits until the message is on its way. descriptor: passed with it; -1: none. Returns false if
     * the other end has gone. */
    [[nodiscard]] bool send(const Message &message, int descriptor = -1);
    /* Returns the descriptor that was passed with a message (Endpoint), in the order of messages;
     * empty if there is none. */
    Fd take_descriptor();
    bool is_open() const { return static_cast<bool>(socket_); }

  private:
    ssize_t receive(std::span<char> bytes);
    void read();
    void take_all();
    void close(const std::string &why);

    EventLoop &loop_;
    Fd socket_;
    Received received_;
    Closed closed_;
    FrameReader frames_;
    std::deque<Fd> descriptors_; /* received, but not taken */
};

} // namespace ckpt::world
