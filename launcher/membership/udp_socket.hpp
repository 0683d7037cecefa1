/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * udp_socket.hpp - datagrams over IPv6 and IPv4, and the news that nobody listens there.
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

/* An address and a port; IPv4 is mapped into IPv6. */
class Endpoint
{
  public:
    Endpoint() = default;
    explicit Endpoint(const sockaddr_in6 &address) : address_(address) {}

    /* A numeric address; nothing for a name, as nobody may wait for a name server. */
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
    /* Normal context, like all here. Port 0: any that is free. Throws Error. */
    explicit UdpSocket(std::uint16_t port);

    int fd() const { return socket_.get(); }
    std::uint16_t port() const { return port_; }

    struct Received {
        std::span<const std::byte> bytes; /* of the buffer */
        Endpoint from;
    };
    /* The next datagram, if one is there. A longer one than the buffer is cut. */
    std::optional<Received> receive(std::span<std::byte> buffer);
    /* Where the next one was sent that the kernel of the other node, or of this, had
     * nobody for. */
    std::optional<Endpoint> refused();
    /* False: it was not sent; it is as if it had been lost. */
    bool send(std::span<const std::byte> bytes, const Endpoint &to);

  private:
    Fd socket_;
    std::uint16_t port_ = 0;
};

} // namespace ckpt::membership
