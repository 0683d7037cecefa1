/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach.cpp - connects to one address after another.
 */
#include "agent/links/reach.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ckpt
{

namespace
{

constexpr int connect_timeout_ms = 3000;

/* Connects within the timeout. Returns an invalid descriptor if that fails. */
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

} // namespace

Reached reach(const PeerAddress &address, std::size_t first)
{
    for (std::size_t i = 0; i < address.hosts.size(); i++) {
        const std::size_t host = (first + i) % address.hosts.size();
        if (Fd socket = connect_to(address.hosts[host], address.port)) {
            return {std::move(socket), host};
        }
    }
    return {};
}

/* A socket that listens on all addresses shows IPv4 addresses as ::ffff:A.B.C.D. */
std::string local_host(int socket)
{
    constexpr std::string_view mapped = "::ffff:";
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    char host[NI_MAXHOST] = "";

    if (getsockname(socket, reinterpret_cast<sockaddr *>(&address), &size) < 0 ||
        getnameinfo(reinterpret_cast<sockaddr *>(&address), size, host, sizeof host, nullptr,
                    0, NI_NUMERICHOST) != 0) {
        return {};
    }
    const std::string name = host;
    return name.starts_with(mapped) ? name.substr(mapped.size()) : name;
}

} // namespace ckpt
