/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_connection.hpp - a connection that this agent makes to the agent of another
 * node: each shows the other that it belongs to the job (agent/handshake.hpp).
 */
#pragma once

#include "common/event_loop.hpp"
#include "agent/frame_stream.hpp"
#include "agent/handshake.hpp"
#include "agent/loop_timer.hpp"
#include "agent/peer_address.hpp"
#include "agent/peer_identity.hpp"
#include "agent/refusals.hpp"
#include "agent/worker_thread.hpp"

#include <functional>
#include <memory>
#include <optional>
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
        /* Also if the other side did not show in time that it has the key. */
        std::function<void()> lost;
        std::function<void()> unreachable; /* after connect() */
    };

    /* purpose: what the other side is told that we want ("agent" or "neighbour").
     * Must live as long as the worker's tasks; `loop`, `worker` and `refusals` must live
     * longer. */
    PeerConnection(EventLoop &loop, WorkerThread &worker, PeerIdentity self,
                   PeerAddress address, std::string purpose, Refusals &refusals,
                   Handlers handlers);

    /* Unless it is connected, or about to be. Addresses are tried in order; if somebody
     * answers who is not the one that is looked for, the next time from there on. */
    void connect();
    bool connecting() const { return connecting_; }
    bool connected() const { return stream_ != nullptr && !handshake_; }
    /* There is a connection, though perhaps not to whom we want. */
    bool open() const { return stream_ != nullptr; }

    /* Only when connected. */
    void send(const nlohmann::json &frame) { stream_->send(frame); }
    /* Nothing waits to be sent. */
    bool idle() const { return stream_ == nullptr || stream_->idle(); }

  private:
    void connected_to(Fd socket, std::size_t host);
    void on_strange_frame(const Frame &frame);
    void welcome(const SessionKeys &keys);
    void end();
    void give_up();

    EventLoop &loop_;
    WorkerThread &worker_;
    PeerIdentity self_;
    PeerAddress address_;
    std::string purpose_;
    Refusals &refusals_;
    Handlers handlers_;
    std::unique_ptr<FrameStream> stream_;
    std::optional<CallerHandshake> handshake_; /* until the other side is known */
    bool has_called_ = false; /* in this handshake: the answer is to come */
    bool connecting_ = false;
    std::size_t first_host_ = 0; /* of the address, to be tried */
    LoopTimer timer_;            /* of the handshake */
};

} // namespace ckpt
