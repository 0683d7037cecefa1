/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_address.hpp - how the agents of other nodes reach this one.
 *
 * The text travels over MPI (WELCOME, broadcast, JOIN), so only ranks of this
 * job know the key in it.
 */
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

struct PeerAddress {
    std::uint16_t port = 0; /* 0: any free one */
    /* Two halves: the first shows that a caller belongs to the job, the second
     * that the agent it has reached does. */
    std::string caller_key, answer_key;
    std::vector<std::string> hosts; /* to be tried in order */

    /* "tcp PORT KEY KEY HOST..."; fits into a message. */
    std::string text() const;
    static std::optional<PeerAddress> parse(std::string_view text);

    /* Random keys; the addresses of this node's interfaces, and its name. */
    static PeerAddress make();
};

/* Takes as long for a wrong key as for a right one. */
bool same_key(std::string_view one, std::string_view other);

} // namespace ckpt
