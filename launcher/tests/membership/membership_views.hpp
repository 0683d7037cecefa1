/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_views.hpp - expectations of membership tests about views, for single cases and random
 * ones.
 */
#pragma once

#include "tests/membership/simulated_membership.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace ckpt::membership
{

using namespace std::chrono_literals;
using test::SimulatedMembership;
using Duration = Protocol::Duration;

inline constexpr Duration heartbeat = 250ms;
inline constexpr SimulatedMembership::Network good_network{};

using Members = std::vector<MemberId>;

/* All active members have the newest view, which contains exactly them. */
inline testing::AssertionResult is_settled(const SimulatedMembership &job)
{
    const View &newest = job.views().rbegin()->second;

    for (const std::string &text : job.violations()) {
        return testing::AssertionFailure() << text;
    }
    for (MemberId member = 0; member < job.size(); member++) {
        const bool in = newest.has(member, job.life_of(member));
        if (job.is_active(member) != in) {
            return testing::AssertionFailure()
                   << "member " << member << (in ? " is in" : " is not in") << " view "
                   << newest.number << (job.is_running(member) ? ", and runs" : "");
        }
        if (in && !(job.protocol(member).view() == newest)) {
            return testing::AssertionFailure()
                   << "member " << member << " has view "
                   << job.protocol(member).view().number << " of " << newest.number;
        }
    }
    return testing::AssertionSuccess();
}

} // namespace ckpt::membership
