/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_connection.hpp - a connection that this agent makes to the agent of another
 * node: each shows the other that it belongs to the job (docs/protocol.md,
 * section 9).
 */
#pragma once

#include "agent/frame_stream.hpp"
#include "agent/peer_address.hpp"
#include "agent/settings.hpp"
#include "agent/worker_thread.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ckpt
{

class PeerConnection
{
  public:
    struct Handlers {
        std::function<void()> connected; /* and the other side is known */
        /* May throw; the connection is then closed. */
        std::function<void(const nlohmann::json &)> frame;
        std::function<void()> lost;
        std::function<void()> unreachable; /* after connect() */
    };

    /* purpose: what the other side is told that we want ("agent" or
     * "neighbour"). Must live as long as the worker's tasks. */
    PeerConnection(EventLoop &loop, WorkerThread &worker,
                   const Settings &settings, PeerAddress address,
                   std::string purpose, Handlers handlers);

    /* Unless it is connected, or about to be. */
    void connect();
    bool connecting() const { return connecting_; }
    bool connected() const { return stream_ != nullptr && welcome_; }
    /* There is a connection, though perhaps not to whom we want. */
    bool open() const { return stream_ != nullptr; }

    /* Only when connected. */
    void send(const nlohmann::json &frame) { stream_->send(frame); }
    /* Nothing waits to be sent. */
    bool idle() const { return stream_ == nullptr || stream_->idle(); }

  private:
    void connected_to(Fd socket);
    void on_frame(const nlohmann::json &frame);

    EventLoop &loop_;
    WorkerThread &worker_;
    const Settings &settings_;
    PeerAddress address_;
    std::string purpose_;
    Handlers handlers_;
    std::unique_ptr<FrameStream> stream_;
    bool connecting_ = false;
    bool welcome_ = false; /* the other side has shown its key */
};

} // namespace ckpt
