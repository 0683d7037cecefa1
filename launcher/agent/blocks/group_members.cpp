/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group_members.cpp - connections to the members of a group.
 */
#include "agent/blocks/group_members.hpp"

#include "agent/links/peer_address.hpp"
#include "agent/blocks/remote_source.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"

namespace ckpt
{

namespace
{

std::unique_ptr<redundancy::BlockSource> connect(const std::string &place,
                                                 const MessageKey &key,
                                                 const PeerIdentity &self,
                                                 const std::string &directory,
                                                 FabricUse &fabric)
{
    const auto address = PeerAddress::at(place, key);
    if (!address) {
        fail("invalid place of a node '{}'", place);
    }
    return std::make_unique<redundancy::RemoteSource>(
        *address, self, directory, redundancy::RemoteSource::usual_timeout, &fabric);
}

} // namespace

GroupMembers::GroupMembers(const std::filesystem::path &directory,
                           const std::vector<std::string> &places, const MessageKey &key,
                           const PeerIdentity &self, Unreachable unreachable,
                           FabricUse &fabric)
{
    const std::string below = directory.parent_path().filename() / directory.filename();

    for (const std::string &place : places) {
        std::unique_ptr<redundancy::BlockSource> source;
        try {
            if (!place.empty()) {
                source = connect(place, key, self, below, fabric);
            }
        } catch (const Error &) {
            if (unreachable == Unreachable::is_an_error) {
                throw;
            }
        }
        sources_.push_back(source.get());
        owned_.push_back(std::move(source));
    }
    CKPT_INVARIANT(sources_.size() == places.size() && owned_.size() == places.size());
}

} // namespace ckpt
