/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protection.cpp - builds the groups of a checkpoint's pieces.
 */
#include "redundancy/protection.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "redundancy/domains.hpp"
#include "redundancy/groups.hpp"

namespace ckpt::redundancy
{

namespace
{

std::vector<NodeInfo> nodes_of(const std::vector<Piece> &pieces,
                               const std::filesystem::path &domains)
{
    Domains by_host;
    std::vector<NodeInfo> nodes;

    if (!domains.empty()) {
        by_host = parse_domains(read_text_file(domains, "file of failure domains"));
    }
    for (const Piece &piece : pieces) {
        const auto domain = by_host.find(piece.host);
        nodes.push_back({piece.host, domain == by_host.end() ? "" : domain->second});
    }
    return nodes;
}

} // namespace

std::vector<Group> groups_of(const std::vector<Piece> &pieces, const Scheme &scheme,
                             const std::filesystem::path &domains)
{
    std::vector<Group> groups;

    for (const auto &nodes : make_groups(nodes_of(pieces, domains), scheme)) {
        std::vector<Member> members;
        for (std::size_t node : nodes) {
            CKPT_INVARIANT(node < pieces.size());
            const Piece &piece = pieces[node];
            members.push_back({piece.host, piece.file, piece.bytes});
        }
        groups.push_back(Group::make(scheme.losses, std::move(members)));
    }
    return groups;
}

nlohmann::json protection_json(const Scheme &scheme, const std::vector<Group> &groups)
{
    nlohmann::json json = {{"scheme", scheme.text()}, {"groups", nlohmann::json::array()}};

    for (const Group &group : groups) {
        json["groups"].push_back(group);
    }
    return json;
}

std::vector<Group> groups_from(const nlohmann::json &protection)
{
    std::vector<Group> groups;

    if (protection.is_null()) {
        return groups;
    }
    if (!protection.is_object() || !protection.contains("groups") ||
        !protection["groups"].is_array()) {
        fail("a protection without groups");
    }
    for (const nlohmann::json &group : protection["groups"]) {
        groups.push_back(group.get<Group>());
    }
    return groups;
}

} // namespace ckpt::redundancy
