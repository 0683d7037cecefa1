/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach.hpp - makes a TCP connection to another node, at the first of its addresses that works.
 */
#pragma once

#include "agent/links/peer_address.hpp"
#include "common/fd.hpp"

#include <cstddef>

namespace ckpt
{

/* A connection to one of the hosts of an address. `host` is the host's index. */
struct Reached {
    Fd socket; /* nonblocking; invalid: no host can be reached */
    std::size_t host = 0;
};

/* Tries the hosts in order, beginning with index `first`. Waits some seconds for each. */
Reached reach(const PeerAddress &address, std::size_t first);

/* Returns this node's numeric address on a connection; "" if it has none. */
std::string local_host(int socket);

} // namespace ckpt
