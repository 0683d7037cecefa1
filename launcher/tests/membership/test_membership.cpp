/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_membership.cpp - views of a job while nodes die, freeze, are disconnected and come back:
 * single cases.
 */
#include "tests/membership/membership_views.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ckpt::membership
{

namespace
{

std::vector<MemberId> members_of(const View &view)
{
    std::vector<MemberId> members;
    view.members.for_each([&](MemberId member) { members.push_back(member); });
    return members;
}

/* ---- One failure --------------------------------------------------------- */

TEST(Membership, BeginsWithAll)
{
    SimulatedMembership job(1, 3, good_network);

    job.run(60s);
    EXPECT_EQ(job.newest(), 1u);
    EXPECT_EQ(members_of(job.views().at(1)), (Members{0, 1, 2}));
    EXPECT_TRUE(is_settled(job));
    EXPECT_TRUE(job.departures().empty());
}

TEST(Membership, HasLimits)
{
    const Protocol::Time now{};

    EXPECT_THROW(Protocol(0, 1, most_members + 1, {}, now), Error);
    EXPECT_THROW(Protocol(3, 1, 3, {}, now), Error);
    EXPECT_THROW(Protocol(0, 0, 3, {}, now), Error);
    EXPECT_THROW(Protocol(0, 1, 3, {.heartbeat = 1s}, now), Error);
    EXPECT_THROW(Protocol(0, 1, 3, {.heartbeat = 0s}, now), Error);
}

TEST(Membership, SomeMayBeginLaterThanOthers)
{
    SimulatedMembership job(1, 5, good_network);

    job.pause(2, 4s);
    job.pause(3, 2s);
    job.run(1s);
    job.kill_node(0);
    job.run(10s);
    EXPECT_EQ(job.newest(), 2u);
    EXPECT_EQ(members_of(job.views().at(2)), (Members{1, 2, 3, 4}));
    EXPECT_TRUE(is_settled(job));
}

TEST(Membership, WhoNeverBeginsIsDead)
{
    SimulatedMembership job(1, 5, good_network);

    job.kill_node(2);
    job.run(5s);
    EXPECT_EQ(job.newest(), 1u);
    job.run(4 * heartbeat);
    EXPECT_EQ(job.newest(), 2u);
    EXPECT_TRUE(is_settled(job));
}

/* Whichever node it is, and whenever in the interval it dies. */
TEST(Membership, ADeadNodeIsGoneBeforeThreeHeartbeats)
{
    for (unsigned seed = 0; seed < 200; seed++) {
        SimulatedMembership job(seed, 3 + seed % 6, good_network);
        const auto victim = static_cast<MemberId>(job.draw(static_cast<int>(job.size())));
        job.run(2s + job.draw(0ms, heartbeat));
        const auto killed = job.now();
        job.kill_node(victim);
        job.run(3 * heartbeat);
        ASSERT_EQ(job.newest(), 2u) << "seed " << seed;
        EXPECT_LE(job.installed_at(2) - killed, 3 * heartbeat);
        job.run(heartbeat);
        ASSERT_TRUE(is_settled(job)) << "seed " << seed;
        EXPECT_EQ(job.links_changed(), 0u) << "a dead node is no dead link";
        ASSERT_EQ(job.departures().size(), 1u);
        EXPECT_EQ(job.departures()[0].member, victim);
        EXPECT_EQ(job.departures()[0].reason, Reason::silent);
    }
}

TEST(Membership, AFrozenMemberIsDeadAndLearnsItWhenItWakes)
{
    SimulatedMembership job(1, 4, good_network);

    job.run(1s);
    job.pause(2, 20s);
    job.run(4 * heartbeat);
    EXPECT_EQ(members_of(job.views().at(2)), (Members{0, 1, 3}));
    job.run(20s);
    EXPECT_TRUE(job.protocol(2).has_ended());
    EXPECT_TRUE(is_settled(job));
    EXPECT_EQ(job.lost_majority(), 0u);
}

TEST(Membership, OfTwoNodesAndTheSupervisorOneMayDie)
{
    SimulatedMembership job(1, 3, good_network);

    job.run(1s);
    job.kill_node(1);
    job.run(4 * heartbeat);
    EXPECT_EQ(members_of(job.views().at(2)), (Members{0, 2}));
    job.kill_node(2); /* one of two has no majority */
    job.run(6s);
    EXPECT_EQ(job.newest(), 2u);
    EXPECT_EQ(job.lost_majority(), 1u);
    EXPECT_TRUE(job.violations().empty());
}

TEST(Membership, AMemberMayLeave)
{
    for (MemberId member : {0u, 1u, 3u}) {
        SimulatedMembership job(member, 4, good_network);
        job.run(1s);
        job.leave(member);
        job.run(2 * heartbeat);
        EXPECT_TRUE(job.protocol(member).has_ended());
        EXPECT_TRUE(is_settled(job));
        ASSERT_EQ(job.departures().size(), 1u);
        EXPECT_EQ(job.departures()[0].reason, Reason::leaving);
    }
}

TEST(Membership, AllMayLeaveOneAfterTheOther)
{
    SimulatedMembership job(1, 4, good_network);

    for (MemberId member : {2u, 0u, 3u, 1u}) {
        job.run(1s);
        job.leave(member);
    }
    job.run(1s);
    for (MemberId member = 0; member < 4; member++) {
        EXPECT_TRUE(job.protocol(member).has_ended());
    }
    EXPECT_EQ(job.lost_majority(), 0u);
    EXPECT_TRUE(job.violations().empty());
}

TEST(Membership, ANewerIncarnationEndsAMember)
{
    Protocol protocol(1, first_life, 3, {}, {});

    protocol.take_actions();
    protocol.superseded(7);
    auto actions = protocol.take_actions();
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(std::get<action::Excluded>(actions[0]).by,
              action::Excluded::By::incarnation);
    EXPECT_EQ(std::get<action::Excluded>(actions[0]).number, 7u);
    EXPECT_TRUE(protocol.has_ended());
    protocol.receive({0, first_life, 1}, message::Heartbeat{true}, Protocol::Time{1s});
    protocol.tick(Protocol::Time{10s});
    EXPECT_TRUE(protocol.take_actions().empty());
}

/* ---- The process of a node that lives ------------------------------------ */

TEST(Membership, AReplacedProcessIsNoDeadNode)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        SimulatedMembership job(seed, 3 + seed % 4, good_network);
        const auto member = static_cast<MemberId>(job.draw(static_cast<int>(job.size())));
        job.run(1s + job.draw(0ms, heartbeat));
        job.end_process(member);
        job.run(job.draw(1ms, 9s));
        EXPECT_EQ(job.newest(), 1u);
        job.restart_process(member);
        job.run(2 * heartbeat);
        ASSERT_EQ(job.newest(), 2u) << "seed " << seed;
        EXPECT_EQ(job.views().at(2).life_of(member), 2u);
        ASSERT_TRUE(is_settled(job)) << "seed " << seed;
        EXPECT_TRUE(job.departures().empty());
        job.run(15s);
        EXPECT_EQ(job.newest(), 2u) << "it is watched like any other";
    }
}

TEST(Membership, AProcessThatIsNotReplacedIsGivenUp)
{
    SimulatedMembership job(1, 4, good_network);

    job.run(1s);
    job.end_process(1);
    job.run(9900ms);
    EXPECT_EQ(job.newest(), 1u);
    job.run(1500ms);
    EXPECT_EQ(members_of(job.views().at(2)), (Members{0, 2, 3}));
    EXPECT_EQ(job.departures().at(0).reason, Reason::gone);
    job.restart_process(1); /* too late */
    job.run(2s);
    EXPECT_TRUE(job.protocol(1).has_ended());
    EXPECT_TRUE(is_settled(job));
}

TEST(Membership, ANodeMayDieAfterItsProcess)
{
    SimulatedMembership job(1, 4, good_network);

    job.run(1s);
    job.end_process(1);
    job.run(700ms);
    job.kill_node(1);
    job.run(3s + 4 * heartbeat);
    EXPECT_EQ(job.newest(), 2u);
    EXPECT_EQ(job.departures().at(0).reason, Reason::silent);
}

/* A node dies while another one has no process: the change waits for the other's process. */
TEST(Membership, AChangeKeepsAMemberThatIsBeingReplaced)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        SimulatedMembership job(seed, 6, good_network);
        job.run(1s);
        job.end_process(seed % 6);
        job.run(job.draw(10ms, 500ms));
        job.kill_node((seed + 3) % 6);
        job.run(7 * heartbeat);
        ASSERT_EQ(job.newest(), 2u);
        EXPECT_TRUE(job.views().at(2).members.contains(seed % 6));
        job.restart_process(seed % 6);
        job.run(4 * heartbeat);
        EXPECT_EQ(job.newest(), 3u);
        EXPECT_TRUE(is_settled(job));
    }
}

TEST(Membership, OfTwoProcessesOfAMemberTheNewerOneStays)
{
    SimulatedMembership job(1, 3, good_network);
    Protocol old(2, first_life, 3, {}, job.now());

    job.run(1s);
    job.end_process(2);
    job.restart_process(2);
    job.run(1s);
    ASSERT_EQ(job.newest(), 2u);
    old.take_actions();
    old.receive({0, first_life, 2}, message::Decision{job.views().at(2)}, job.now());
    auto actions = old.take_actions();
    EXPECT_TRUE(std::holds_alternative<action::Excluded>(actions.back()));
}

/* ---- Links and partitions ------------------------------------------------ */

TEST(Membership, ADeadLinkIsNoDeadNode)
{
    SimulatedMembership job(1, 5, good_network);

    job.run(1s);
    job.cut(1, 2);
    job.run(10s);
    EXPECT_EQ(job.newest(), 1u);
    for (MemberId member = 0; member < 5; member++) {
        EXPECT_EQ(job.protocol(member).dead_links(),
                  (std::set<std::pair<MemberId, MemberId>>{{1, 2}}));
    }
    const auto killed = job.now();
    job.kill_node(2); /* its witness watches it */
    job.run(4 * heartbeat);
    ASSERT_EQ(job.newest(), 2u);
    EXPECT_LE(job.installed_at(2) - killed, 3 * heartbeat + heartbeat / 4);
    EXPECT_TRUE(job.protocol(0).dead_links().empty());
    EXPECT_TRUE(is_settled(job));
}

TEST(Membership, ALinkThatIsBackIsToldOf)
{
    SimulatedMembership job(1, 3, good_network);

    job.run(1s);
    job.cut(1, 2);
    job.run(2s);
    EXPECT_EQ(job.protocol(0).dead_links().size(), 1u);
    job.heal();
    job.run(2 * heartbeat);
    EXPECT_EQ(job.newest(), 1u);
    for (MemberId member = 0; member < 3; member++) {
        EXPECT_TRUE(job.protocol(member).dead_links().empty());
    }
}

/* Its neighbours do not hear it, but the coordinator does. */
TEST(Membership, AMemberThatTheCoordinatorHearsStays)
{
    SimulatedMembership job(1, 6, good_network);

    job.run(1s);
    job.cut(3, 2);
    job.cut(3, 4);
    job.run(20s);
    EXPECT_EQ(job.newest(), 1u);
    EXPECT_EQ(job.lost_majority(), 0u);
    job.kill_node(3);
    job.run(6 * heartbeat);
    EXPECT_EQ(job.newest(), 2u);
    EXPECT_TRUE(is_settled(job));
}

TEST(Membership, OnlyTheMajorityGoesOn)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        SimulatedMembership job(seed, 5, good_network);
        job.run(1s + job.draw(0ms, heartbeat));
        job.partition(seed % 2 == 0 ? std::vector<std::set<MemberId>>{{0, 1}, {2, 3, 4}}
                                    : std::vector<std::set<MemberId>>{{0, 2}, {1, 3, 4}});
        job.run(4500ms);
        EXPECT_EQ(job.lost_majority(), 0u);
        job.run(4s);
        ASSERT_TRUE(is_settled(job)) << "seed " << seed;
        EXPECT_EQ(job.views().rbegin()->second.members.size(), 3u);
        EXPECT_EQ(job.lost_majority(), 2u);
        job.heal(); /* no member comes back */
        job.run(5s);
        ASSERT_TRUE(is_settled(job)) << "seed " << seed;
    }
}

TEST(Membership, HalfIsNoMajority)
{
    SimulatedMembership job(1, 4, good_network);

    job.run(1s);
    job.partition({{0, 1}, {2, 3}});
    job.run(7s);
    EXPECT_EQ(job.newest(), 1u);
    EXPECT_EQ(job.lost_majority(), 4u);
}

TEST(Membership, AMinorityThatIsBackInTimeLearnsThatItIsOut)
{
    SimulatedMembership job(1, 5, good_network);

    job.run(1s);
    job.partition({{0, 1}, {2, 3, 4}});
    job.run(3s);
    job.heal();
    job.run(4 * heartbeat);
    EXPECT_EQ(job.lost_majority(), 0u);
    EXPECT_TRUE(job.protocol(0).has_ended() && job.protocol(1).has_ended());
    EXPECT_TRUE(is_settled(job));
}

/* ---- Several failures ---------------------------------------------------- */

TEST(Membership, TwoNodesDyingTogetherOrNearlySo)
{
    Duration longest{};

    for (unsigned seed = 0; seed < 500; seed++) {
        SimulatedMembership job(seed, 5 + seed % 4, good_network);
        const int size = static_cast<int>(job.size());
        const auto first = static_cast<MemberId>(job.draw(size));
        const auto second = static_cast<MemberId>((first + 1 + job.draw(size - 1)) % size);
        job.run(1s + job.draw(0ms, heartbeat));
        job.kill_node(first);
        job.run(job.draw(0ms, seed % 2 == 0 ? 200ms : 900ms));
        const auto killed = job.now();
        job.kill_node(second);
        job.run(8 * heartbeat);
        ASSERT_TRUE(is_settled(job)) << "seed " << seed;
        longest = std::max(longest, job.installed_at(job.newest()) - killed);
    }
    EXPECT_LE(longest, 7 * heartbeat);
}

/* The coordinator dies after each of its messages from the first death on. */
TEST(Membership, TheCoordinatorMayDieAtAnyPointOfAChange)
{
    for (std::uint64_t last = 0; last < 60; last++) {
        SimulatedMembership job(1, 5, good_network);
        std::uint64_t sent = 0;
        bool dying = false;
        job.set_mutation([&](const SimulatedMembership::Datagram &datagram) {
            if (datagram.envelope.from != 0 || !dying) {
                return std::vector{datagram};
            }
            if (sent++ == last) {
                job.kill_node(0);
            }
            return sent > last ? std::vector<SimulatedMembership::Datagram>{}
                               : std::vector{datagram};
        });
        job.run(1s);
        job.kill_node(3);
        dying = true;
        job.run(15 * heartbeat);
        if (job.is_running(0)) {
            job.kill_node(0); /* it has sent fewer messages */
        }
        job.run(15 * heartbeat);
        ASSERT_TRUE(is_settled(job)) << "after message " << last;
        EXPECT_EQ(members_of(job.views().rbegin()->second), (Members{1, 2, 4}));
    }
}

TEST(Membership, AWholeRackMayDie)
{
    SimulatedMembership job(1, 40, good_network);

    job.run(6s); /* all are known to run */
    for (MemberId member = 10; member < 25; member++) {
        job.kill_node(member);
    }
    job.run(10 * heartbeat);
    EXPECT_TRUE(is_settled(job));
    EXPECT_EQ(job.views().rbegin()->second.members.size(), 25u);
    EXPECT_LE(job.newest(), 3u);
}

TEST(Membership, AThousandNodes)
{
    SimulatedMembership job(1, 1000, good_network);

    job.run(1s);
    const std::uint64_t before = job.messages_sent();
    job.run(8 * heartbeat);
    EXPECT_LE(job.messages_sent() - before, 1000u * 2 * 9); /* only the ring's messages */
    job.kill_node(500);
    job.kill_node(0);
    job.run(8 * heartbeat);
    EXPECT_TRUE(is_settled(job));
    EXPECT_EQ(job.views().rbegin()->second.members.size(), 998u);
}

/* ---- Slow members -------------------------------------------------------- */

TEST(Membership, PausesLostMessagesAndDelaysRaiseNoFalseAlarm)
{
    for (unsigned seed = 0; seed < 100; seed++) {
        SimulatedMembership job(seed, 3 + seed % 6,
                                {.loss = 0.02,
                                 .duplication = 0.02,
                                 .longest = 20ms,
                                 .scheduling = 20ms});
        for (int i = 0; i < 20; i++) {
            job.run(job.draw(1500ms, 3s));
            job.pause(static_cast<MemberId>(job.draw(static_cast<int>(job.size()))),
                      job.draw(1ms, heartbeat * 5 / 4));
        }
        ASSERT_EQ(job.newest(), 1u) << "seed " << seed;
        ASSERT_EQ(job.lost_majority(), 0u) << "seed " << seed;
    }
}

/* For example, a virtual machine with all members freezes: no member has missed anything. */
TEST(Membership, AFreezeOfAllIsNoFailure)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        SimulatedMembership job(seed, 2 + seed % 5, good_network);
        job.run(1s + job.draw(0ms, heartbeat));
        for (MemberId member = 0; member < job.size(); member++) {
            job.pause(member, 30s + job.draw(0ms, 100ms));
        }
        job.run(40s);
        ASSERT_EQ(job.newest(), 1u) << "seed " << seed;
        ASSERT_TRUE(is_settled(job)) << "seed " << seed;
    }
}

/* It has heard no member for longer than the limit, and still accuses none. */
TEST(Membership, WhoWasAwayReadsBeforeItAccuses)
{
    Protocol protocol(1, first_life, 3, {}, {});
    const auto accusations = [&] {
        auto actions = protocol.take_actions();
        return std::count_if(actions.begin(), actions.end(), [](const Action &action) {
            auto *send = std::get_if<action::Send>(&action);
            return send != nullptr &&
                   std::holds_alternative<message::Accusation>(send->message);
        });
    };

    protocol.tick(Protocol::Time{0s});
    protocol.receive({0, first_life, 1}, message::Heartbeat{}, Protocol::Time{10ms});
    protocol.receive({2, first_life, 1}, message::Heartbeat{}, Protocol::Time{10ms});
    protocol.receive({0, first_life, 1}, message::Heartbeat{}, Protocol::Time{30s});
    protocol.receive({0, first_life, 1}, message::Heartbeat{}, Protocol::Time{30s + 1ms});
    protocol.tick(Protocol::Time{30s + 1ms});
    EXPECT_EQ(accusations(), 0);
    auto now = Protocol::Time{30s};
    while (protocol.next_tick() < Protocol::Time{30s + 3 * heartbeat}) {
        now = std::max(now, protocol.next_tick());
        protocol.tick(now);
    }
    EXPECT_GT(accusations(), 0) << "but now it had the time";
}

} // namespace

} // namespace ckpt::membership
