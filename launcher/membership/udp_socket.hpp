/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * udp_socket.hpp - datagrams over IPv6 and IPv4, and ICMP reports of ports on which no process
 * listens.
 */
#pragma once

#include "common/fd.hpp"

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ckpt::membership
{

/* An address and a port; IPv4 addresses are mapped into IPv6. */
class Endpoint
{
  public:
    Endpoint() = default;
    explicit Endpoint(const sockaddr_in6 &address)
        : address_(address) {}

    /* Parses a numeric address. Returns nothing for a name, as this must not wait for a name
     * server. */
    static std::optional<Endpoint> parse(const std::string &address,
                                         std::uint16_t port);

    const sockaddr_in6 &address() const { return address_; }
    bool is_loopback() const;
    bool operator==(const Endpoint &other) const;

  private:
    sockaddr_in6 address_{};
};

class UdpSocket
{
  public:
    /* Normal context, like all functions here. Port 0: any free port. Throws Error. */
    explicit UdpSocket(std::uint16_t port);

    int fd() const { return socket_.get(); }
    std::uint16_t port() const { return port_; }

    struct Received {
        std::span<const std::byte> bytes; /* part of the buffer */
        Endpoint from;
    };
    /* Returns the next datagram, if there is one. A datagram that is longer than the buffer is
     * truncated. */
    std::optional<Received> receive(std::span<std::byte> buffer);
    /* Returns the target of the next datagram for which the kernel of that node, or of this
     * node, has found no listening process. */
    std::optional<Endpoint> refused();
    /* Returns false if the datagram was not sent, which is equivalent to a loss. */
    bool send(std::span<const std::byte> bytes, const Endpoint &to);

  private:
    Fd socket_;
    std::uint16_t port_ = 0;
};

} // namespace ckpt::membership
