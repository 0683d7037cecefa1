/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_source.hpp - the files that another node has of a checkpoint, by way of its
 * BlockServer (docs/levels.md).
 */
#pragma once

#include "agent/peer_address.hpp"
#include "agent/peer_identity.hpp"
#include "redundancy/block_source.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace ckpt::redundancy
{

class RemoteSource : public BlockSource
{
  public:
    /* How long nothing may come of what has been asked for. */
    static constexpr std::chrono::seconds usual_patience{10};

    /* Connects, and makes sure that it is the right one. address: of the BlockServer, with
     * the job's key. directory: JOB/NUMBER. Throws Error, as all functions do; what was
     * said of a file by the other side does not end the connection. */
    RemoteSource(const PeerAddress &address, const PeerIdentity &self,
                 std::string directory,
                 std::chrono::milliseconds patience = usual_patience);
    ~RemoteSource() override;

    std::uint64_t size(const std::string &file) override;
    void read(const std::string &file, std::uint64_t offset,
              std::span<std::byte> into) override;
    void announce(const std::string &file, std::uint64_t offset,
                  std::uint64_t bytes) override;

    /* Has whoever reads get an Error now. From any thread. */
    void cancel();

  private:
    class Connection;

    static std::unique_ptr<Connection> connect(const PeerAddress &address,
                                               const PeerIdentity &self,
                                               std::chrono::milliseconds patience);
    std::string path_of(const std::string &file) const;

    const std::string host_, directory_;
    std::unique_ptr<Connection> connection_;
};

} // namespace ckpt::redundancy
