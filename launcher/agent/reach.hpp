/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reach.hpp - a TCP connection to another node, under the first of its addresses that
 * works.
 */
#pragma once

#include "agent/peer_address.hpp"
#include "common/fd.hpp"

#include <cstddef>

namespace ckpt
{

/* A connection to one of the hosts of an address, the number of which is `host`. */
struct Reached {
    Fd socket; /* nonblocking; invalid: none can be reached */
    std::size_t host = 0;
};

/* Hosts are tried in order, beginning with the one of that number. Waits some seconds for
 * each. */
Reached reach(const PeerAddress &address, std::size_t first);

/* The numeric address of this node on a connection; empty if it has none. */
std::string local_host(int socket);

} // namespace ckpt
