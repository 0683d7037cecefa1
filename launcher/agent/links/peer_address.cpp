/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_address.cpp - how agents of other nodes reach this one.
 */
#include "agent/links/peer_address.hpp"

#include "common/host.hpp"
#include "common/invariant.hpp"

#include "ckpt/wire.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <system_error>

namespace ckpt
{

namespace
{

constexpr std::size_t longest_text = sizeof(ckpt_message::text) - 1;

/* Longest text apart from the hosts. */
constexpr std::size_t longest_head =
    std::string_view("tcp 65535 ").size() + 2 * MessageKey::size;

/* Returns the hosts that fit into a message, each after a space. */
std::string hosts_text(const std::vector<std::string> &hosts)
{
    std::string text;

    for (const std::string &host : hosts) {
        if (longest_head + text.size() + 1 + host.size() <= longest_text) {
            text += " " + host;
        }
    }
    CKPT_INVARIANT(longest_head + text.size() <= longest_text);
    return text;
}

} // namespace

std::string PeerAddress::text() const
{
    return fmt::format("tcp {} {}{}", port, key.text(), hosts_text(hosts));
}

std::string PeerAddress::place() const
{
    return fmt::format("{}{}", port, hosts_text(hosts));
}

std::optional<PeerAddress> PeerAddress::parse(std::string_view text)
{
    std::istringstream words{std::string(text)};
    std::string kind, port, digits, hosts;

    if (!(words >> kind >> port >> digits) || kind != "tcp") {
        return {};
    }
    std::getline(words, hosts);
    auto key = MessageKey::parse(digits);
    return key ? at(port + hosts, *key) : std::nullopt;
}

std::optional<PeerAddress> PeerAddress::at(std::string_view place, const MessageKey &key)
{
    std::istringstream words{std::string(place)};
    PeerAddress address;
    std::string port, host;

    words >> port;
    const char *end = port.data() + port.size();
    auto [parsed, error] = std::from_chars(port.data(), end, address.port);
    if (error != std::errc() || parsed != end) {
        return {};
    }
    while (words >> host) {
        address.hosts.push_back(host);
    }
    address.key = key;
    return address;
}

PeerAddress PeerAddress::make()
{
    PeerAddress address;
    address.key = MessageKey::make();
    address.hosts = host_addresses();
    return address;
}

} // namespace ckpt
