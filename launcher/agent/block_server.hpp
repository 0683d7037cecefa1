/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_server.hpp - gives the other nodes of the job what this one has of its
 * checkpoints (docs/levels.md): ranges of files below one directory.
 *
 * Works on a thread of its own, whatever the agent is doing. Who calls must show that it
 * has the job's key (agent/peer_listener.hpp).
 */
#pragma once

#include "agent/peer_address.hpp"
#include "agent/peer_identity.hpp"
#include "agent/refusals.hpp"
#include "common/message_key.hpp"
#include "fabric/choice.hpp"

#include <filesystem>
#include <memory>

namespace ckpt::redundancy
{

class BlockServer
{
  public:
    /* root: the directory of checkpoints; what is asked for is JOB/NUMBER/FILE in it.
     * refusals: those of the agent; must live longer. fabric: with which files are lent to
     * who asks for that. Listens on a free port of all addresses when this returns. Throws
     * Error. */
    BlockServer(PeerIdentity self, const MessageKey &key, std::filesystem::path root,
                Refusals &refusals, fabric::Choice fabric = {});
    /* Ends all connections. */
    ~BlockServer();
    BlockServer(const BlockServer &) = delete;
    BlockServer &operator=(const BlockServer &) = delete;

    /* With the port and the key. */
    const PeerAddress &address() const;

  private:
    class Work;
    std::unique_ptr<Work> work_;
};

} // namespace ckpt::redundancy
