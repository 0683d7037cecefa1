/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_source.hpp - reads another node's files of a checkpoint through its BlockServer
 * (docs/levels.md).
 */
#pragma once

#include "agent/blocks/fabric_use.hpp"
#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"
#include "redundancy/block_source.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>

namespace ckpt::redundancy
{

class BlockConnection;

class RemoteSource : public BlockSource
{
  public:
    /* Longest time without any of the requested bytes. */
    static constexpr std::chrono::seconds usual_timeout{10};

    /* Connects, and verifies the server. address: of the BlockServer, with the job's key.
     * directory: JOB/NUMBER. fabric: opens an endpoint, or null; must live longer. If the fabric
     * fails, all bytes come over TCP. Throws Error, as all functions do. An error that the
     * server reports about a file does not end the connection. */
    RemoteSource(const PeerAddress &address, const PeerIdentity &self,
                 std::string directory,
                 std::chrono::milliseconds timeout = usual_timeout,
                 FabricUse *fabric = nullptr);
    ~RemoteSource() override;

    std::uint64_t size(const std::string &file) override;
    void read(const std::string &file, std::uint64_t offset,
              std::span<std::byte> into) override;
    void announce(const std::string &file, std::uint64_t offset,
                  std::uint64_t bytes) override;

    /* Makes a thread that reads fail with Error at once. May be called from any thread. */
    void cancel();

  private:
    std::unique_ptr<BlockConnection> connect(FabricUse *fabric) const;
    std::size_t read_some(const std::string &path, std::uint64_t offset,
                          std::span<std::byte> into);
    void go_on_without_fabric(const std::string &why);
    void tell_fabric();
    std::string path_of(const std::string &file) const;

    const PeerAddress address_;
    const PeerIdentity self_;
    const std::string host_, directory_;
    const std::chrono::milliseconds timeout_;
    FabricUse *const fabric_; /* may be null */
    std::mutex mutex_;        /* protects the members below, which cancel() uses */
    std::unique_ptr<BlockConnection> connection_;
    bool is_cancelled_ = false;
};

} // namespace ckpt::redundancy
