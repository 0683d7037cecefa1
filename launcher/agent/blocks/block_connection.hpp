/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_connection.hpp - a connection to a BlockServer (docs/levels.md). The caller asks for ranges
 * of files ahead of time, and then reads them block by block.
 *
 * Only one thread at a time may use it, in normal context; any thread may call cancel().
 */
#pragma once

#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"
#include "common/fd.hpp"
#include "fabric/endpoint.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

class BlockConnection
{
  public:
    using OpenFabric = std::function<std::unique_ptr<fabric::Endpoint>()>;

    /* A range of a file. */
    struct Range {
        std::string path; /* JOB/NUMBER/FILE */
        std::uint64_t next = 0, end = 0;
    };

    /* socket: connected to the server at `address`, which the handshake verifies. timeout:
     * longest time without any byte. open_fabric: returns the endpoint that reads files which
     * the server lends; null: all bytes come through the socket. It is called after the
     * handshake, as it may take longer than the server gives an unauthenticated peer. Throws
     * Error, as all functions do. An error that the server reports about a file does not end the
     * connection. */
    BlockConnection(Fd socket, const PeerAddress &address, const PeerIdentity &self,
                    std::chrono::milliseconds timeout,
                    const OpenFabric &open_fabric);
    ~BlockConnection();

    /* Returns the length of a file. No other request may be under way. */
    std::uint64_t size(const std::string &path);

    /* Requests a range, to be read after all ranges requested before. */
    void ask(const std::string &path, std::uint64_t offset, std::uint64_t bytes);

    /* Fills the first bytes of `into`, at least one, with the file's bytes from `offset` on, and
     * with zeros beyond its end. The position must be the next one of the requested ranges; if
     * none is left, this requests all of `into`. Returns the number of bytes. Throws
     * fabric::Failure if the fabric fails and another connection without fabric may succeed. */
    std::size_t read_some(const std::string &path, std::uint64_t offset,
                          std::span<std::byte> into);

    /* Requested ranges, or their parts, that are not read yet, in order. */
    std::vector<Range> pending() const;

    /* Returns why the server does not lend its files, and clears it; empty: the server lends
     * them. */
    std::string take_refusal();
    /* Whether any byte was read through the fabric. */
    bool has_used_fabric() const;

    /* Makes a thread that reads fail with Error at once. May be called from any thread. */
    void cancel();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace ckpt::redundancy
