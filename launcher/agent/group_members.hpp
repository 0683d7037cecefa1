/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group_members.hpp - the files of a group's members, on whatever nodes these are.
 */
#pragma once

#include "agent/fabric_use.hpp"
#include "agent/peer_identity.hpp"
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
    /* If there is no connection to a member: it is lost, or nothing can be done. */
    enum class Unreachable { is_lost, is_an_error };

    /* Connects to the block servers at `places` (PeerAddress::place()), which have this key;
     * a place that is empty: the member is lost, or it is ourselves. directory: of the
     * checkpoint, DIR/JOB/NUMBER on each node. fabric: must live longer. Throws Error. */
    GroupMembers(const std::filesystem::path &directory,
                 const std::vector<std::string> &places, const MessageKey &key,
                 const PeerIdentity &self, Unreachable unreachable, FabricUse &fabric);

    /* One for each member; null: it is lost. They live as long as this. */
    const std::vector<redundancy::BlockSource *> &sources() const { return sources_; }

  private:
    std::vector<std::unique_ptr<redundancy::BlockSource>> owned_;
    std::vector<redundancy::BlockSource *> sources_;
};

} // namespace ckpt
