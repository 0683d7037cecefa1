/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_plan.cpp - decides which node gets which piece, and from where.
 */
#include "gather/gather_plan.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/store/checkpoint_files.hpp"
#include "redundancy/protection.hpp"

#include <algorithm>

namespace ckpt::gather
{

using nlohmann::json;
using redundancy::Group;
using redundancy::Member;
using Nodes = std::map<std::string, Holder>;

namespace
{

bool has_piece(const Holder &node, const std::string &file, std::uint64_t bytes)
{
    const auto found = node.files.find(file);
    return found != node.files.end() && found->second == bytes;
}

/* Returns a node for which the condition holds, preferably `host`; null if there is
 * none. */
template <typename Condition>
const Holder *find_holder(const Nodes &nodes, const std::string &host, Condition condition)
{
    const auto same = nodes.find(host);
    if (same != nodes.end() && condition(same->second)) {
        return &same->second;
    }
    for (const auto &[name, node] : nodes) {
        if (condition(node)) {
            return &node;
        }
    }
    return nullptr;
}

/* A member is available if one node has both its piece and its parity. */
const Holder *find_member(const Nodes &nodes, const Member &member)
{
    return find_holder(nodes, member.host, [&](const Holder &node) {
        return has_piece(node, member.file, member.bytes) &&
               node.files.contains(parity_file_name(member.host));
    });
}

/* Returns the pieces with ranks that run on the node. */
std::vector<const Piece *> needed_by(const Holder &node, const Manifest &manifest)
{
    std::vector<const Piece *> pieces;
    for (const Piece &piece : manifest.pieces) {
        if (std::ranges::any_of(piece.ranks,
                                [&](int rank) { return node.ranks.contains(rank); })) {
            pieces.push_back(&piece);
        }
    }
    return pieces;
}

bool is_member(const Member &member, const Piece &piece)
{
    return member.host == piece.host && member.file == piece.file;
}

Rebuild rebuild_of(const Piece &piece, const std::vector<Group> &groups, const Nodes &nodes)
{
    for (const Group &group : groups) {
        const auto lost = std::ranges::find_if(
            group.members, [&](const Member &member) { return is_member(member, piece); });
        if (lost == group.members.end()) {
            continue;
        }
        Rebuild rebuild{group, static_cast<std::size_t>(lost - group.members.begin()), {}};
        for (const Member &member : group.members) {
            const Holder *holder = find_member(nodes, member);
            rebuild.places.push_back(holder == nullptr ? "" : holder->place);
        }
        const auto losses = static_cast<std::size_t>(
            std::ranges::count(rebuild.places, std::string()));
        if (losses > group.losses) {
            fail("{} is lost with {} of the {} nodes that could replace it", piece.file,
                 losses - 1, group.members.size() - 1);
        }
        CKPT_INVARIANT(rebuild.places.size() == group.members.size());
        CKPT_INVARIANT(rebuild.places[rebuild.lost].empty());
        return rebuild;
    }
    fail("{} is on none of the nodes, and nothing can replace it", piece.file);
}

void add_task(const Piece &piece, const std::vector<Group> &groups, const Nodes &nodes,
              Tasks &tasks)
{
    const Holder *holder = find_holder(nodes, piece.host, [&](const Holder &node) {
        return has_piece(node, piece.file, piece.bytes);
    });
    if (holder != nullptr) {
        tasks.fetch.push_back({{piece.host, piece.file, piece.bytes}, holder->place});
    } else {
        tasks.rebuild.push_back(rebuild_of(piece, groups, nodes));
    }
}

void require_all_ranks(const Manifest &manifest, const Nodes &nodes)
{
    std::set<int> ranks;
    for (const auto &[host, node] : nodes) {
        ranks.insert(node.ranks.begin(), node.ranks.end());
    }
    for (int rank = 0; rank < manifest.rank_count; rank++) {
        if (!ranks.contains(rank)) {
            fail("rank {} is on no node", rank);
        }
    }
}

} // namespace

std::map<std::string, Tasks> plan_tasks(const NodeRecord &record, const Nodes &nodes)
{
    const std::vector<Group> groups = redundancy::groups_from(record.protection);
    std::map<std::string, Tasks> plan;

    require_all_ranks(record.manifest, nodes);
    for (const auto &[host, node] : nodes) {
        Tasks &tasks = plan[host];
        for (const Piece *piece : needed_by(node, record.manifest)) {
            if (!has_piece(node, piece->file, piece->bytes)) {
                add_task(*piece, groups, nodes, tasks);
            }
        }
    }
    return plan;
}

bool may_survive(const NodeRecord &record, const std::set<std::string> &lost)
{
    std::set<std::string> replaced;

    for (const Group &group : redundancy::groups_from(record.protection)) {
        const auto losses = std::ranges::count_if(
            group.members, [&](const Member &member) { return lost.contains(member.host); });
        if (losses <= static_cast<std::ptrdiff_t>(group.losses)) {
            for (const Member &member : group.members) {
                replaced.insert(member.host);
            }
        }
    }
    return std::ranges::all_of(record.manifest.pieces, [&](const Piece &piece) {
        return !lost.contains(piece.host) || replaced.contains(piece.host);
    });
}

/* ---- As text ------------------------------------------------------------------- */

json to_json(const Tasks &tasks)
{
    json text = {{"fetch", json::array()}, {"rebuild", json::array()}};

    for (const Fetch &fetch : tasks.fetch) {
        text["fetch"].push_back({{"host", fetch.piece.host},
                                 {"file", fetch.piece.file},
                                 {"bytes", fetch.piece.bytes},
                                 {"place", fetch.place}});
    }
    for (const Rebuild &rebuild : tasks.rebuild) {
        text["rebuild"].push_back({{"group", rebuild.group},
                                   {"lost", rebuild.lost},
                                   {"places", rebuild.places}});
    }
    return text;
}

Tasks tasks_from(const json &text)
{
    Tasks tasks;

    for (const json &entry : text.at("fetch")) {
        tasks.fetch.push_back({{entry.at("host"), entry.at("file"), entry.at("bytes")},
                               entry.at("place")});
    }
    for (const json &entry : text.at("rebuild")) {
        Rebuild rebuild{entry.at("group").get<Group>(), entry.at("lost"), entry.at("places")};
        if (rebuild.lost >= rebuild.group.members.size() ||
            rebuild.places.size() != rebuild.group.members.size()) {
            fail("a task for member {} of {}, with {} places", rebuild.lost,
                 rebuild.group.members.size(), rebuild.places.size());
        }
        tasks.rebuild.push_back(std::move(rebuild));
    }
    return tasks;
}

} // namespace ckpt::gather
