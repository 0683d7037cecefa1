/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_address.hpp - how the agents of other nodes reach this one.
 *
 * The text travels over MPI (WELCOME, broadcast, JOIN) and Unix sockets, so only this
 * job knows the key in it. Over TCP goes the place, which is no secret.
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
    std::uint16_t port = 0;         /* 0: any free one */
    MessageKey key;                 /* of the job */
    std::vector<std::string> hosts; /* to be tried in order; the node's name first */

    /* "tcp PORT KEY HOST...", with as many hosts as fit into a message. */
    std::string text() const;
    static std::optional<PeerAddress> parse(std::string_view text);

    /* "PORT HOST...", the same without the key; and back. */
    std::string place() const;
    static std::optional<PeerAddress> at(std::string_view place, const MessageKey &key);

    /* A random key; the addresses of this node's interfaces, and its name. */
    static PeerAddress make();
};

} // namespace ckpt
