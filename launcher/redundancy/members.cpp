/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * members.cpp - connections to the members of a group.
 */
#include "redundancy/members.hpp"

#include "agent/peer_address.hpp"
#include "common/error.hpp"
#include "redundancy/remote_source.hpp"

namespace ckpt::redundancy
{

Members::Members(const std::filesystem::path &directory, std::size_t self,
                 const std::vector<std::string> &places, const MessageKey &key,
                 const PeerIdentity &identity)
{
    const std::string remote = directory.parent_path().filename() / directory.filename();

    for (std::size_t i = 0; i < places.size(); i++) {
        std::unique_ptr<BlockSource> source;
        if (i == self) {
            source = std::make_unique<LocalSource>(directory);
        } else if (!places[i].empty()) {
            const auto address = PeerAddress::at(places[i], key);
            if (!address) {
                fail("'{}' is no place of a node", places[i]);
            }
            source = std::make_unique<RemoteSource>(*address, identity, remote);
        }
        sources_.push_back(source.get());
        owned_.push_back(std::move(source));
    }
}

} // namespace ckpt::redundancy
