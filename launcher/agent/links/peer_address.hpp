/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_address.hpp - how agents of other nodes reach this one.
 *
 * The text travels over MPI (WELCOME, broadcast, JOIN) and Unix sockets, so only this job knows the
 * key in it. Over TCP, agents send only the place, which is not secret.
 */
#pragma once

#include "common/message_key.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

struct PeerAddress {
    std::uint16_t port = 0;         /* 0: any free port */
    MessageKey key;                 /* of the job */
    std::vector<std::string> hosts; /* in the order of attempts; the node's name first */

    /* Returns "tcp PORT KEY HOST...", with as many hosts as fit into a message. */
    std::string text() const;
    static std::optional<PeerAddress> parse(std::string_view text);

    /* place() returns "PORT HOST...", the same without the key; at() reads it. */
    std::string place() const;
    static std::optional<PeerAddress> at(std::string_view place, const MessageKey &key);

    /* Returns a random key, this node's name and the addresses of its interfaces. */
    static PeerAddress make();
};

} // namespace ckpt
