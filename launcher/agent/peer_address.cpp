/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_address.cpp - how the agents of other nodes reach this one.
 */
#include "agent/peer_address.hpp"

#include "common/error.hpp"

#include "ckpt/wire.h"

#include <fmt/format.h>

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

namespace ckpt
{

namespace
{

constexpr std::size_t key_bytes = 16;
constexpr std::size_t longest_text = sizeof(ckpt_message::text) - 1;

std::string random_key()
{
    unsigned char bytes[key_bytes];
    std::string key;

    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
        fail_errno(errno, "no random numbers");
    }
    for (unsigned char byte : bytes) {
        key += fmt::format("{:02x}", byte);
    }
    return key;
}

/* Numeric addresses, those of the loopback interface last. */
std::vector<std::string> own_addresses()
{
    std::vector<std::string> real, loopback;
    ifaddrs *list = nullptr;

    if (getifaddrs(&list) < 0) {
        return {};
    }
    for (ifaddrs *entry = list; entry != nullptr; entry = entry->ifa_next) {
        char host[NI_MAXHOST];
        if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) {
            continue;
        }
        int family = entry->ifa_addr->sa_family;
        socklen_t size = family == AF_INET    ? sizeof(sockaddr_in)
                         : family == AF_INET6 ? sizeof(sockaddr_in6)
                                              : 0;
        if (size != 0 && getnameinfo(entry->ifa_addr, size, host, sizeof host,
                                     nullptr, 0, NI_NUMERICHOST) == 0) {
            auto &where =
                (entry->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : real;
            where.push_back(host);
        }
    }
    freeifaddrs(list);
    real.insert(real.end(), loopback.begin(), loopback.end());
    return real;
}

} // namespace

std::string PeerAddress::text() const
{
    std::string text =
        fmt::format("tcp {} {} {}", port, caller_key, answer_key);

    for (const std::string &host : hosts) {
        if (text.size() + 1 + host.size() <= longest_text) {
            text += " " + host;
        }
    }
    return text;
}

std::optional<PeerAddress> PeerAddress::parse(std::string_view text)
{
    std::istringstream words{std::string(text)};
    PeerAddress address;
    std::string kind, host;

    if (!(words >> kind >> address.port >> address.caller_key >>
          address.answer_key) ||
        kind != "tcp" || address.caller_key.size() != 2 * key_bytes ||
        address.answer_key.size() != 2 * key_bytes) {
        return {};
    }
    while (words >> host) {
        address.hosts.push_back(host);
    }
    return address;
}

PeerAddress PeerAddress::make()
{
    PeerAddress address;
    char name[256] = {};

    address.caller_key = random_key();
    address.answer_key = random_key();
    address.hosts = own_addresses();
    if (gethostname(name, sizeof name - 1) == 0) {
        address.hosts.insert(address.hosts.begin(), name);
    }
    return address;
}

bool same_key(std::string_view one, std::string_view other)
{
    unsigned difference = one.size() == other.size() ? 0 : 1;

    for (std::size_t i = 0; i < std::min(one.size(), other.size()); i++) {
        difference |= static_cast<unsigned char>(one[i]) ^
                      static_cast<unsigned char>(other[i]);
    }
    return difference == 0;
}

} // namespace ckpt
