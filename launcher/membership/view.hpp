/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.hpp - who belongs to a job, as all of them agree: views follow one another in one
 * sequence (docs/membership.md, section 2).
 */
#pragma once

#include "membership/member_set.hpp"

#include <cstdint>
#include <map>

namespace ckpt::membership
{

struct View {
    std::uint64_t number = 0; /* the first is 1 */
    MemberSet members;
    /* Of members whose first process has been replaced. */
    std::map<MemberId, Life> lives;

    /* All members of a launch, each with its first process. */
    static View first(std::size_t members) { return {1, MemberSet::all(members), {}}; }

    Life life_of(MemberId member) const
    {
        auto found = lives.find(member);
        return found == lives.end() ? first_life : found->second;
    }
    /* This very process belongs to it. */
    bool has(MemberId member, Life life) const
    {
        return members.contains(member) && life_of(member) == life;
    }
    /* Any two of them have a member in common. */
    bool is_quorum(std::size_t votes) const { return 2 * votes > members.size(); }

    bool operator==(const View &) const = default;
};

/* More replaced processes than this do not fit into a datagram; a further one is not let
 * in, and its member is given up when its time is over. */
constexpr std::size_t most_lives = 64;

} // namespace ckpt::membership
