/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_connection.hpp - a connection to a BlockServer (docs/levels.md): asks for ranges of
 * files ahead, and takes them block by block.
 *
 * Used by one thread at a time but for cancel(), in normal context.
 */
#pragma once

#include "agent/peer_address.hpp"
#include "agent/peer_identity.hpp"
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

    /* socket: connected to the server at `address`, which is made sure of. patience: how long
     * nothing may come. open_fabric: gives what reads with what the server lends; null: all
     * comes through the socket. It is called when the server knows who we are, as it may take
     * longer than a stranger is given. Throws Error, as all functions do; what was said of a
     * file by the other side does not end the connection. */
    BlockConnection(Fd socket, const PeerAddress &address, const PeerIdentity &self,
                    std::chrono::milliseconds patience,
                    const OpenFabric &open_fabric);
    ~BlockConnection();

    /* Length of a file; nothing else may be under way. */
    std::uint64_t size(const std::string &path);

    /* Will be read after what was asked for before. */
    void ask(const std::string &path, std::uint64_t offset, std::uint64_t bytes);

    /* The first bytes of `into`, one at least: what the file has from the offset on, zeros
     * beyond its end. It must be the next of what was asked for; if that is nothing, this
     * asks for all of `into`. Returns how many. Throws fabric::Failure if it may come through
     * another connection, without the fabric. */
    std::size_t read_some(const std::string &path, std::uint64_t offset,
                          std::span<std::byte> into);

    /* What was asked for and has not been read, in order. */
    std::vector<Range> pending() const;

    /* Once: why the server does not lend what it has; empty if it does. */
    std::string take_refusal();
    /* Whether anything was read by way of the fabric. */
    bool has_used_fabric() const;

    /* Has whoever reads get an Error now. From any thread. */
    void cancel();

  private:
    class Parts;
    std::unique_ptr<Parts> parts_;
};

} // namespace ckpt::redundancy
