/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_connection.cpp - finds another agent under one of its addresses, and makes sure
 * that it is the right one.
 */
#include "agent/peer_connection.hpp"

#include "common/error.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace ckpt
{

using nlohmann::json;

namespace
{

constexpr int connect_timeout_ms = 3000;

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

Fd connect_to(const PeerAddress &address)
{
    for (const std::string &host : address.hosts) {
        addrinfo hints{}, *list = nullptr;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host.c_str(), std::to_string(address.port).c_str(),
                        &hints, &list) != 0) {
            continue;
        }
        Fd socket;
        for (addrinfo *entry = list; entry != nullptr && !socket;
             entry = entry->ai_next) {
            socket = connect_to(*entry);
        }
        freeaddrinfo(list);
        if (socket) {
            return socket;
        }
    }
    return {};
}

} // namespace

PeerConnection::PeerConnection(EventLoop &loop, WorkerThread &worker,
                               const Settings &settings, PeerAddress address,
                               std::string purpose, Handlers handlers)
    : loop_(loop), worker_(worker), settings_(settings),
      address_(std::move(address)), purpose_(std::move(purpose)),
      handlers_(std::move(handlers))
{
}

void PeerConnection::connect()
{
    if (connecting_ || open()) {
        return;
    }
    connecting_ = true;
    worker_.run([this, address = address_] {
        int socket = connect_to(address).release();
        worker_.reply([this, socket] { connected_to(Fd(socket)); });
    });
}

void PeerConnection::connected_to(Fd socket)
{
    connecting_ = false;
    welcome_ = false;
    if (!socket) {
        handlers_.unreachable();
        return;
    }
    stream_ = std::make_unique<FrameStream>(loop_, std::move(socket),
                                            "the agent that was called");
    stream_->handle({[this](const json &frame) { on_frame(frame); },
                     [this] {
                         stream_.reset();
                         handlers_.lost();
                     }});
    stream_->send({{"type", purpose_},
                   {"key", address_.caller_key},
                   {"namespace", settings_.launch_namespace},
                   {"host", settings_.host}});
}

void PeerConnection::on_frame(const json &frame)
{
    if (welcome_) {
        handlers_.frame(frame);
        return;
    }
    if (frame.at("type") != "welcome" ||
        !same_key(frame.at("key").get<std::string>(), address_.answer_key)) {
        fail("this is not the agent of our job");
    }
    welcome_ = true;
    stream_->trust();
    handlers_.connected();
}

} // namespace ckpt
