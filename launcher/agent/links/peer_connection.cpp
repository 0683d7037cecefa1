/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_connection.cpp - finds another agent at one of its addresses, and verifies that it is the
 * right one.
 */
#include "agent/links/peer_connection.hpp"

#include "agent/links/reach.hpp"
#include "common/invariant.hpp"

#include <chrono>
#include <utility>

namespace ckpt
{

namespace
{

/* Limit for the agent that was called; longer than a listener waits for a caller. */
constexpr auto longest_handshake_time = std::chrono::seconds(10);

} // namespace

PeerConnection::PeerConnection(EventLoop &loop, WorkerThread &worker,
                               PeerIdentity self, PeerAddress address,
                               std::string purpose, RejectedFrames &rejected,
                               Handlers handlers)
    : loop_(loop), worker_(worker), self_(std::move(self)),
      address_(std::move(address)), purpose_(std::move(purpose)),
      rejected_(rejected), handlers_(std::move(handlers)),
      timer_(loop, [this] { give_up(); })
{
}

void PeerConnection::connect()
{
    if (connecting_ || open()) {
        return;
    }
    connecting_ = true;
    worker_.run([this, address = address_, first = first_host_] {
        Reached reached = reach(address, first);
        worker_.reply([this, socket = reached.socket.release(), host = reached.host] {
            connected_to(Fd(socket), host);
        });
    });
}

void PeerConnection::connected_to(Fd socket, std::size_t host)
{
    CKPT_EXPECT(connecting_ && !stream_);
    connecting_ = false;
    if (!socket) {
        handlers_.unreachable();
        return;
    }
    CKPT_INVARIANT(host < address_.hosts.size());
    first_host_ = host;
    has_called_ = false;
    handshake_.emplace(address_, self_, purpose_);
    stream_ = std::make_unique<FrameStream>(
        loop_, std::move(socket), "unexpected peer at " + address_.hosts[host],
        rejected_);
    stream_->handle_strange(
        {[this](const Frame &frame) { on_strange_frame(frame); }, [this] { end(); }});
    timer_.start(longest_handshake_time);
}

void PeerConnection::on_strange_frame(const Frame &frame)
{
    CKPT_EXPECT(handshake_ && stream_);
    if (has_called_) {
        welcome(handshake_->accept(frame));
    } else {
        stream_->send_strange(handshake_->call(frame));
        has_called_ = true;
    }
}

void PeerConnection::welcome(const SessionKeys &keys)
{
    CKPT_EXPECT(handshake_ && stream_);
    timer_.stop();
    handshake_.reset();
    stream_->trust(keys.from_caller, keys.from_listener);
    stream_->handle({handlers_.frame, [this] { end(); }});
    handlers_.connected();
}

void PeerConnection::end()
{
    timer_.stop();
    stream_.reset();
    if (handshake_) {
        handshake_.reset();
        first_host_ = (first_host_ + 1) % address_.hosts.size();
    }
    handlers_.lost();
}

void PeerConnection::give_up()
{
    rejected_.count(Rejection::too_slow, stream_->peer() + ": does not say who it is");
    end();
}

} // namespace ckpt
