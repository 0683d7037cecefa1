/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_connection.cpp - finds another agent under one of its addresses, and makes sure
 * that it is the right one.
 */
#include "agent/peer_connection.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace ckpt
{

namespace
{

constexpr int connect_timeout_ms = 3000;
/* Of who was called: longer than a listener waits for us. */
constexpr auto longest_handshake_time = std::chrono::seconds(10);

/* A connection to one of the hosts of an address, the number of which is `host`. */
struct Reached {
    Fd socket; /* invalid: none can be reached */
    std::size_t host = 0;
};

/* Connects within the timeout; an invalid descriptor if that is not possible. */
Fd connect_to(const addrinfo &address)
{
    Fd socket(::socket(address.ai_family,
                       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    pollfd ready = {socket.get(), POLLOUT, 0};
    int error = 0;
    socklen_t size = sizeof error;

    if (!socket ||
        (connect(socket.get(), address.ai_addr, address.ai_addrlen) < 0 &&
         errno != EINPROGRESS) ||
        poll(&ready, 1, connect_timeout_ms) != 1 ||
        getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) < 0 ||
        error != 0) {
        return {};
    }
    return socket;
}

Fd connect_to(const std::string &host, std::uint16_t port)
{
    addrinfo hints{}, *list = nullptr;
    Fd socket;

    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0) {
        return {};
    }
    for (addrinfo *entry = list; entry != nullptr && !socket; entry = entry->ai_next) {
        socket = connect_to(*entry);
    }
    freeaddrinfo(list);
    return socket;
}

/* The first that can be reached, beginning with the host of that number. */
Reached connect_to(const PeerAddress &address, std::size_t first)
{
    for (std::size_t i = 0; i < address.hosts.size(); i++) {
        const std::size_t host = (first + i) % address.hosts.size();
        if (Fd socket = connect_to(address.hosts[host], address.port)) {
            return {std::move(socket), host};
        }
    }
    return {};
}

} // namespace

PeerConnection::PeerConnection(EventLoop &loop, WorkerThread &worker,
                               PeerIdentity self, PeerAddress address,
                               std::string purpose, Refusals &refusals,
                               Handlers handlers)
    : loop_(loop), worker_(worker), self_(std::move(self)),
      address_(std::move(address)), purpose_(std::move(purpose)),
      refusals_(refusals), handlers_(std::move(handlers)),
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
        Reached reached = connect_to(address, first);
        worker_.reply([this, socket = reached.socket.release(), host = reached.host] {
            connected_to(Fd(socket), host);
        });
    });
}

void PeerConnection::connected_to(Fd socket, std::size_t host)
{
    connecting_ = false;
    if (!socket) {
        handlers_.unreachable();
        return;
    }
    first_host_ = host;
    has_called_ = false;
    handshake_.emplace(address_, self_, purpose_);
    stream_ = std::make_unique<FrameStream>(
        loop_, std::move(socket), "who was called at " + address_.hosts[host],
        refusals_);
    stream_->handle_strange(
        {[this](const Frame &frame) { on_strange_frame(frame); }, [this] { end(); }});
    timer_.start(longest_handshake_time);
}

void PeerConnection::on_strange_frame(const Frame &frame)
{
    if (has_called_) {
        welcome(handshake_->accept(frame));
    } else {
        stream_->send_strange(handshake_->call(frame));
        has_called_ = true;
    }
}

void PeerConnection::welcome(const SessionKeys &keys)
{
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
    refusals_.count(Refusal::too_slow, stream_->peer() + ": does not say who it is");
    end();
}

} // namespace ckpt
