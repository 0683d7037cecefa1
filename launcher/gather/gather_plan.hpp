/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_plan.hpp - before a restart from pieces that lie on nodes: what each node needs that
 * it does not have, and where that comes from (docs/levels.md). No I/O.
 */
#pragma once

#include "image/node_record.hpp"
#include "redundancy/group.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ckpt::gather
{

/* A node of the new launch. */
struct Holder {
    std::set<int> ranks; /* that will be on it */
    std::map<std::string, std::uint64_t> files; /* of the checkpoint, with their sizes */
    std::string place; /* of its block server */
};

/* A piece that another node has. */
struct Fetch {
    redundancy::Member piece;
    std::string place;
};

/* A piece that nobody has. */
struct Rebuild {
    redundancy::Group group;
    std::size_t lost = 0;            /* member */
    std::vector<std::string> places; /* of the members; empty: lost, too */
};

/* What a node has to do. */
struct Tasks {
    std::vector<Fetch> fetch;
    std::vector<Rebuild> rebuild;
};

/*
 * By host, as `nodes`. Throws Error that names a piece which can neither be found nor made
 * again; or a rank that is on no node.
 */
std::map<std::string, Tasks> plan_tasks(const NodeRecord &record,
                                        const std::map<std::string, Holder> &nodes);

/* Whether that may go well if these nodes are lost, as far as can be told before. */
bool may_survive(const NodeRecord &record, const std::set<std::string> &lost);

nlohmann::json to_json(const Tasks &tasks);
/* Throws Error or nlohmann::json::exception. */
Tasks tasks_from(const nlohmann::json &json);

} // namespace ckpt::gather
