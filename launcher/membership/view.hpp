/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view.hpp - the members of a job, as all of them agree. Views form a single sequence
 * (docs/membership.md, section 2).
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
    /* Only for members whose first process has been replaced. */
    std::map<MemberId, Life> lives;

    /* Returns the view with all members of a launch, each with its first process. */
    static View first(std::size_t members) { return {1, MemberSet::all(members), {}}; }

    Life life_of(MemberId member) const
    {
        auto found = lives.find(member);
        return found == lives.end() ? first_life : found->second;
    }
    /* Whether exactly this process belongs to the view. */
    bool has(MemberId member, Life life) const
    {
        return members.contains(member) && life_of(member) == life;
    }
    /* Any two quorums have a common member. */
    bool is_quorum(std::size_t votes) const { return 2 * votes > members.size(); }

    bool operator==(const View &) const = default;
};

/* More replaced processes do not fit into a datagram. A further one is not admitted, and its
 * member is given up when its time is over. */
constexpr std::size_t most_lives = 64;

} // namespace ckpt::membership
