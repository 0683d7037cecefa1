/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_plan.hpp - before a restart from pieces on the nodes: plans which pieces each node
 * lacks, and where they come from (docs/levels.md). Performs no I/O.
 */
#pragma once

#include "image/store/node_record.hpp"
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
    std::set<int> ranks;                        /* ranks that will run on it */
    std::map<std::string, std::uint64_t> files; /* of the checkpoint, with sizes */
    std::string place;                          /* address of its block server */
};

/* A piece to be copied from another node. */
struct Fetch {
    redundancy::Member piece;
    std::string place;
};

/* A piece that no node has, to be rebuilt. */
struct Rebuild {
    redundancy::Group group;
    std::size_t lost = 0; /* index of the lost member in the group */
    /* Addresses of the members' block servers; empty: lost, too. */
    std::vector<std::string> places;
};

/* The tasks of one node. */
struct Tasks {
    std::vector<Fetch> fetch;
    std::vector<Rebuild> rebuild;
};

/*
 * Returns the tasks by host, for all of `nodes`. Throws Error naming a piece that can neither
 * be found nor rebuilt, or a rank that is on no node.
 */
std::map<std::string, Tasks> plan_tasks(const NodeRecord &record,
                                        const std::map<std::string, Holder> &nodes);

/* Whether plan_tasks() may succeed if these nodes are lost, as far as is known in advance. */
bool may_survive(const NodeRecord &record, const std::set<std::string> &lost);

nlohmann::json to_json(const Tasks &tasks);
/* Throws Error or nlohmann::json::exception. */
Tasks tasks_from(const nlohmann::json &json);

} // namespace ckpt::gather
