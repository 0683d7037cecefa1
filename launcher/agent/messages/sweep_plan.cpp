/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_plan.cpp - the plan of a sweep, and its JSON form.
 */
#include "agent/messages/sweep_plan.hpp"

#include "ckpt/messages.h"
#include "common/error.hpp"
#include "common/invariant.hpp"

namespace ckpt
{

using nlohmann::json;

namespace
{

constexpr int largest_job = CKPT_RANKS_MOST;

/* Requires that the ranks are valid and can be counted. */
void require_runs(const SweepPlan &plan)
{
    int count = 0;

    for (const SweepPlan::Member &member : plan.members) {
        for (auto [first, last] : member.ranks) {
            if (first < 0 || last < first || last >= largest_job) {
                fail("a sweep of ranks {} to {}", first, last);
            }
            count += last - first + 1;
            if (count > largest_job) {
                fail("a sweep of more than {} ranks", largest_job);
            }
        }
    }
}

} // namespace

int SweepPlan::Member::rank_count() const
{
    int count = 0;

    for (auto [first, last] : ranks) {
        count += last - first + 1;
    }
    return count;
}

int SweepPlan::rank_count() const
{
    int count = 0;

    for (const Member &member : members) {
        count += member.rank_count();
    }
    return count;
}

json to_frame(const SweepPlan &plan)
{
    CKPT_EXPECT(plan.self < plan.members.size()); /* sweep_plan_from() refuses anything else */
    json members = json::array();

    for (const SweepPlan::Member &member : plan.members) {
        members.push_back({{"host", member.host},
                           {"address", member.address},
                           {"ranks", member.ranks}});
    }
    return {{"members", members}, {"sides", plan.sides}, {"self", plan.self}};
}

SweepPlan sweep_plan_from(const json &frame)
{
    SweepPlan plan;

    for (const json &entry : frame.at("members")) {
        SweepPlan::Member &member = plan.members.emplace_back();
        entry.at("host").get_to(member.host);
        entry.at("address").get_to(member.address);
        entry.at("ranks").get_to(member.ranks);
    }
    frame.at("sides").get_to(plan.sides);
    frame.at("self").get_to(plan.self);
    require_runs(plan);
    if (plan.self >= plan.members.size()) {
        fail("a sweep of {} nodes has no node {}", plan.members.size(),
             plan.self);
    }
    return plan;
}

} // namespace ckpt
