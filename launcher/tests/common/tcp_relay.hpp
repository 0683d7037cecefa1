/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_relay.hpp - a man in the middle between two agents, who sees all their bytes and may change
 * them.
 */
#pragma once

#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>
#include <utility>

namespace ckpt::test
{

inline sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in address{};

    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* Returns an invalid descriptor if no process listens. */
inline Fd connect_to_loopback(std::uint16_t port)
{
    const sockaddr_in address = loopback(port);
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));

    if (connect(socket.get(), reinterpret_cast<const sockaddr *>(&address),
                sizeof address) != 0) {
        socket.reset();
    }
    return socket;
}

class TcpRelay
{
  public:
    /* Returns the bytes to pass on for the received ones; empty: ends the connection. */
    using Change = std::function<std::string(const std::string &bytes, bool to_listener)>;

    TcpRelay(EventLoop &loop, std::uint16_t listener)
        : loop_(loop), listener_(listener)
    {
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        auto *generic = reinterpret_cast<sockaddr *>(&address);

        socket_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (bind(socket_.get(), generic, size) == 0 && listen(socket_.get(), 8) == 0 &&
            getsockname(socket_.get(), generic, &size) == 0) {
            port_ = ntohs(address.sin_port);
        }
        loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
    }
    ~TcpRelay()
    {
        loop_.forget(socket_.get());
        while (!pairs_.empty()) {
            end(pairs_.begin());
        }
    }

    std::uint16_t port() const { return port_; } /* 0: the relay does not work */
    void set_change(Change change) { change_ = std::move(change); }

  private:
    struct Pair {
        Fd caller, listener;
    };
    using Pairs = std::list<Pair>;

    void accept()
    {
        pairs_.push_back({Fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)),
                          connect_to_loopback(listener_)});
        auto pair = std::prev(pairs_.end());
        loop_.watch(pair->caller.get(), EPOLLIN,
                    [this, pair](std::uint32_t) { pass(pair, true); });
        loop_.watch(pair->listener.get(), EPOLLIN,
                    [this, pair](std::uint32_t) { pass(pair, false); });
    }

    void pass(Pairs::iterator pair, bool to_listener)
    {
        char bytes[65536];
        const Fd &from = to_listener ? pair->caller : pair->listener;
        const Fd &to = to_listener ? pair->listener : pair->caller;
        ssize_t size = recv(from.get(), bytes, sizeof bytes, 0);
        std::string text(bytes, static_cast<std::size_t>(size > 0 ? size : 0));

        if (change_ && !text.empty()) {
            text = change_(text, to_listener);
        }
        if (text.empty() ||
            send(to.get(), text.data(), text.size(), MSG_NOSIGNAL) !=
                static_cast<ssize_t>(text.size())) {
            end(pair);
        }
    }

    void end(Pairs::iterator pair)
    {
        loop_.forget(pair->caller.get());
        loop_.forget(pair->listener.get());
        pairs_.erase(pair);
    }

    EventLoop &loop_;
    std::uint16_t listener_;
    std::uint16_t port_ = 0;
    Fd socket_;
    Pairs pairs_;
    Change change_;
};

} // namespace ckpt::test
