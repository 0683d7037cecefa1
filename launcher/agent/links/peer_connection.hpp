/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_connection.hpp - a connection that this agent makes to the agent of another node. Each
 * proves to the other that it belongs to the job (agent/links/handshake.hpp).
 */
#pragma once

#include "common/event_loop.hpp"
#include "agent/links/frame_stream.hpp"
#include "agent/links/handshake.hpp"
#include "agent/base/loop_timer.hpp"
#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/base/worker_thread.hpp"

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
        std::function<void()> connected; /* and the other side is authenticated */
        /* May throw; the connection is then closed. */
        std::function<void(const nlohmann::json &)> frame;
        /* Also called if the other side does not prove in time that it has the key. */
        std::function<void()> lost;
        std::function<void()> unreachable; /* after connect() */
    };

    /* purpose: of the connection, sent to the other side ("agent" or "neighbour"). This object
     * must live as long as the worker's tasks; `loop`, `worker` and `rejected` must live longer. */
    PeerConnection(EventLoop &loop, WorkerThread &worker, PeerIdentity self,
                   PeerAddress address, std::string purpose, RejectedFrames &rejected,
                   Handlers handlers);

    /* Connects, unless it is connected or about to be. Tries the addresses in order. If a wrong
     * peer answers at one of them, the next call begins with the address after that. */
    void connect();
    bool connecting() const { return connecting_; }
    bool connected() const { return stream_ != nullptr && !handshake_; }
    /* Whether there is a connection, though perhaps not to the right agent. */
    bool open() const { return stream_ != nullptr; }

    /* Requires connected(). */
    void send(const nlohmann::json &frame) { stream_->send(frame); }
    /* Whether nothing waits to be sent. */
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
    RejectedFrames &rejected_;
    Handlers handlers_;
    std::unique_ptr<FrameStream> stream_;
    std::optional<CallerHandshake> handshake_; /* until the other side is authenticated */
    /* whether this handshake has sent its call and waits for the answer */
    bool has_called_ = false;
    bool connecting_ = false;
    std::size_t first_host_ = 0; /* index of the address to try first */
    LoopTimer timer_;            /* limits the time of the handshake */
};

} // namespace ckpt
