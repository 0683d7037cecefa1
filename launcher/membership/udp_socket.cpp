/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * udp_socket.cpp - datagrams over IPv6 and IPv4, and ICMP reports of ports on which no process
 * listens.
 */
#include "membership/udp_socket.hpp"

#include "common/error.hpp"

#include <linux/errqueue.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace ckpt::membership
{

namespace
{
constexpr int most_tries = 64; /* to receive, before other work has its turn */
}

std::optional<Endpoint> Endpoint::parse(const std::string &address, std::uint16_t port)
{
    addrinfo hints{}, *found = nullptr;

    hints.ai_family = AF_INET6;
    hints.ai_socktype = SOCK_DGRAM;
    hints.ai_flags = AI_NUMERICHOST | AI_V4MAPPED;
    if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) {
        return std::nullopt;
    }
    sockaddr_in6 result{};
    std::memcpy(&result, found->ai_addr, sizeof result);
    freeaddrinfo(found);
    result.sin6_port = htons(port);
    return Endpoint(result);
}

bool Endpoint::is_loopback() const
{
    const in6_addr &host = address_.sin6_addr;

    return IN6_IS_ADDR_LOOPBACK(&host) ||
           (IN6_IS_ADDR_V4MAPPED(&host) && host.s6_addr[12] == 127);
}

/* Ignores the scope, which only selects the interface. */
bool Endpoint::operator==(const Endpoint &other) const
{
    return address_.sin6_port == other.address_.sin6_port &&
           std::memcmp(&address_.sin6_addr, &other.address_.sin6_addr,
                       sizeof address_.sin6_addr) == 0;
}

UdpSocket::UdpSocket(std::uint16_t port)
    : socket_(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
{
    const int on = 1, off = 0;
    sockaddr_in6 address{};
    socklen_t size = sizeof address;
    auto *generic = reinterpret_cast<sockaddr *>(&address);

    address.sin6_family = AF_INET6; /* accepts IPv4 as well, as mapped addresses */
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(port);
    setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    /* makes the kernel report errors with their addresses (ip(7)) */
    setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    setsockopt(socket_.get(), IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    if (!socket_ || bind(socket_.get(), generic, sizeof address) < 0 ||
        getsockname(socket_.get(), generic, &size) < 0) {
        fail_errno(errno, "cannot receive on UDP port {}", port);
    }
    port_ = ntohs(address.sin6_port);
}

std::optional<UdpSocket::Received> UdpSocket::receive(std::span<std::byte> buffer)
{
    sockaddr_in6 from{};
    ssize_t size = -1;

    /* Each error of an earlier datagram is reported once here, too. */
    for (int tries = 0; size < 0 && tries < most_tries; tries++) {
        socklen_t length = sizeof from;
        size = recvfrom(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT,
                        reinterpret_cast<sockaddr *>(&from), &length);
        if (size < 0 && (errno == EAGAIN || errno == EBADF || errno == ENOMEM)) {
            break;
        }
    }
    if (size < 0) {
        return std::nullopt;
    }
    return Received{buffer.first(static_cast<std::size_t>(size)), Endpoint(from)};
}

std::optional<Endpoint> UdpSocket::refused()
{
    for (;;) {
        sockaddr_in6 to{};
        alignas(cmsghdr) char control[512];
        msghdr message{};
        bool is_refused = false;

        message.msg_name = &to;
        message.msg_namelen = sizeof to;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        if (recvmsg(socket_.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
            return std::nullopt;
        }
        for (cmsghdr *part = CMSG_FIRSTHDR(&message); part != nullptr;
             part = CMSG_NXTHDR(&message, part)) {
            sock_extended_err error{};
            if ((part->cmsg_level == IPPROTO_IPV6 && part->cmsg_type == IPV6_RECVERR) ||
                (part->cmsg_level == IPPROTO_IP && part->cmsg_type == IP_RECVERR)) {
                std::memcpy(&error, CMSG_DATA(part), sizeof error);
                is_refused = error.ee_errno == ECONNREFUSED;
            }
        }
        if (is_refused) {
            return Endpoint(to);
        }
    }
}

bool UdpSocket::send(std::span<const std::byte> bytes, const Endpoint &to)
{
    const auto *address = reinterpret_cast<const sockaddr *>(&to.address());

    /* the first attempts may return errors of earlier datagrams */
    for (int attempt = 0; attempt < 3; attempt++) {
        if (sendto(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT, address,
                   sizeof to.address()) >= 0) {
            return true;
        }
        if (errno == EAGAIN) {
            break;
        }
    }
    return false;
}

} // namespace ckpt::membership
