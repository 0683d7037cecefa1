/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_server.hpp - serves this node's part of the checkpoints to the other nodes of the job
 * (docs/levels.md): ranges of files below one directory.
 *
 * It works on its own thread, independently of the agent's. A caller must prove that it has the
 * job's key (agent/links/peer_listener.hpp).
 */
#pragma once

#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/message_key.hpp"
#include "fabric/choice.hpp"

#include <filesystem>
#include <memory>

namespace ckpt::redundancy
{

class BlockServer
{
  public:
    /* root: the directory of checkpoints; requests name JOB/NUMBER/FILE in it. rejected: the
     * agent's counters; must live longer. fabric: used to lend files to callers that request it.
     * The server listens on a free port of all addresses when this returns. Throws Error. */
    BlockServer(PeerIdentity self, const MessageKey &key, std::filesystem::path root,
                RejectedFrames &rejected, fabric::Choice fabric = {});
    /* Ends all connections. */
    ~BlockServer();
    BlockServer(const BlockServer &) = delete;
    BlockServer &operator=(const BlockServer &) = delete;

    /* Returns the address with the port and the key. */
    const PeerAddress &address() const;

  private:
    class Work;
    std::unique_ptr<Work> work_;
};

} // namespace ckpt::redundancy
