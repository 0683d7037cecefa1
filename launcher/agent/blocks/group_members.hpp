/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group_members.hpp - access to the files of all members of a group, on their nodes.
 */
#pragma once

#include "agent/blocks/fabric_use.hpp"
#include "agent/base/peer_identity.hpp"
#include "common/message_key.hpp"
#include "redundancy/block_source.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ckpt
{

class GroupMembers
{
  public:
    /* Meaning of a failed connection to a member: the member is lost, or this fails. */
    enum class Unreachable {
        is_lost,
        is_an_error
    };

    /* Connects to the block servers at `places` (PeerAddress::place()), which have this key. An
     * empty place: the member is lost, or is this node. directory: of the checkpoint,
     * DIR/JOB/NUMBER on each node. fabric: must live longer. Throws Error. */
    GroupMembers(const std::filesystem::path &directory,
                 const std::vector<std::string> &places, const MessageKey &key,
                 const PeerIdentity &self, Unreachable unreachable, FabricUse &fabric);

    /* One source for each member; null: the member is lost. They live as long as this object. */
    const std::vector<redundancy::BlockSource *> &sources() const { return sources_; }

  private:
    std::vector<std::unique_ptr<redundancy::BlockSource>> owned_;
    std::vector<redundancy::BlockSource *> sources_;
};

} // namespace ckpt
