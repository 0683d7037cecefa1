/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * members.hpp - the pieces of a group's members, wherever these are.
 */
#pragma once

#include "agent/peer_identity.hpp"
#include "common/message_key.hpp"
#include "redundancy/block_source.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ckpt::redundancy
{

class Members
{
  public:
    /* directory: of the checkpoint, here and on the members' nodes: DIR/JOB/NUMBER. self: the
     * member that is here; more than there are: none is. places: of the members' block
     * servers (PeerAddress::place()); empty: it is lost. key: that of the servers. Connects
     * when something is read. Throws Error for what is no place. */
    Members(const std::filesystem::path &directory, std::size_t self,
            const std::vector<std::string> &places, const MessageKey &key,
            const PeerIdentity &identity);

    /* One for each member; null: it is lost. They live as long as this. */
    const std::vector<BlockSource *> &sources() const { return sources_; }

  private:
    std::vector<std::unique_ptr<BlockSource>> owned_;
    std::vector<BlockSource *> sources_;
};

} // namespace ckpt::redundancy
