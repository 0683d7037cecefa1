/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_membership.cpp - views of a job while nodes die, freeze, are cut off and come
 * back: single cases, and random ones by the thousand.
 */
#include "tests/simulated_membership.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace ckpt::membership
{

namespace
{

using namespace std::chrono_literals;
using test::SimulatedMembership;
using Duration = Protocol::Duration;

constexpr Duration heartbeat = 250ms;
constexpr SimulatedMembership::Network good_network{};

std::vector<MemberId> members_of(const View &view)
{
    std::vector<MemberId> members;
    view.members.for_each([&](MemberId member) { members.push_back(member); });
    return members;
}

using Members = std::vector<MemberId>;

/* All active members have the newest view, and it has them and nobody else. */
testing::AssertionResult is_settled(const SimulatedMembership &job)
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

/* Whoever it is, and whenever in the interval it happens. */
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
    job.kill_node(2); /* one of two is no majority */
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

/* A node dies while another one has no process: that one is waited for. */
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
    job.kill_node(2); /* its witness has the watch */
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

/* Its neighbours do not hear it, and the coordinator does. */
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
        job.heal(); /* nobody comes back */
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

/* After each message that it sends from the first death on. */
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
            job.kill_node(0); /* it has not said so much */
        }
        job.run(15 * heartbeat);
        ASSERT_TRUE(is_settled(job)) << "after message " << last;
        EXPECT_EQ(members_of(job.views().rbegin()->second), (Members{1, 2, 4}));
    }
}

TEST(Membership, AWholeRackMayDie)
{
    SimulatedMembership job(1, 40, good_network);

    job.run(6s); /* all are known to have begun */
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
    EXPECT_LE(job.messages_sent() - before, 1000u * 2 * 9); /* none but the ring's */
    job.kill_node(500);
    job.kill_node(0);
    job.run(8 * heartbeat);
    EXPECT_TRUE(is_settled(job));
    EXPECT_EQ(job.views().rbegin()->second.members.size(), 998u);
}

/* ---- Slow is not dead ---------------------------------------------------- */

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

/* A virtual machine with all of them, say: nobody has missed anything. */
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

/* It has not heard anybody for longer than is allowed, and still accuses nobody. */
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

/* ---- At random ----------------------------------------------------------- */

/* Faults for a few seconds, then quiet; what the members must have come to by then. */
class Chaos
{
  public:
    explicit Chaos(unsigned seed, Protocol::Options options = {.majority = 12s})
        : options_(options),
          job(seed, 3 + seed % 5, network_of(seed), options)
    {
    }

    void run()
    {
        const int faults = 1 + job.draw(5);
        job.run(1s);
        const auto begun = job.now();
        for (int i = 0; i < faults; i++) {
            fault();
            job.run(job.draw(0ms, job.draw(3) == 0 ? 2s : 300ms));
        }
        job.kill_next_coordinator(false);
        if (job.draw(3) != 0) {
            job.heal();
        }
        for (MemberId member = 0; member < job.size(); member++) {
            if (!job.is_running(member) && job.draw(2) == 0) {
                job.restart_process(member);
            }
        }
        /* Whoever has been without a majority for long enough ends in spite of all. */
        expected_ = job.now() - begun < options_.majority - 4s ? survivors() : Members{};
        /* Replacements that do not come; then changes; then who is cut off gives up. */
        job.run(options_.replacement + 3s + 30 * heartbeat + options_.majority);
    }

    bool has_survivors() const
    {
        for (MemberId member = 0; member < job.size(); member++) {
            if (job.is_active(member)) {
                return true;
            }
        }
        return false;
    }

    /* Empty: all is as it must be. */
    std::string judgement() const
    {
        if (!job.violations().empty()) {
            return job.violations().front();
        }
        if (!has_survivors()) {
            return expected_.empty() ? "" : "a majority has died out";
        }
        auto settled = is_settled(job);
        return settled ? "" : settled.message();
    }

  private:
    Protocol::Options options_;

    static SimulatedMembership::Network network_of(unsigned seed)
    {
        switch (seed % 3) {
        case 0:
            return good_network;
        case 1:
            return {.loss = 0.05, .duplication = 0.05, .longest = 30ms};
        default:
            return {.loss = 0.15, .duplication = 0.1, .longest = 60ms};
        }
    }

    void fault()
    {
        const int size = static_cast<int>(job.size());
        const auto one = static_cast<MemberId>(job.draw(size));
        const auto other = static_cast<MemberId>(job.draw(size));

        switch (job.draw(9)) {
        case 0:
        case 1:
            job.kill_node(one);
            break;
        case 2:
            job.end_process(one);
            break;
        case 3:
            job.restart_process(one);
            break;
        case 4:
            job.pause(one, job.draw(10ms, 3s));
            break;
        case 5:
            if (one != other) {
                job.cut(one, other);
            }
            break;
        case 6:
            job.partition({random_group()});
            break;
        case 7:
            job.kill_next_coordinator();
            job.kill_node(one);
            job.run(job.draw(100ms, 3s));
            break;
        default:
            job.heal();
        }
    }

    std::set<MemberId> random_group()
    {
        std::set<MemberId> group;
        for (MemberId member = 0; member < job.size(); member++) {
            if (job.draw(2) == 0) {
                group.insert(member);
            }
        }
        return group;
    }

    /* Those of whom some must live on: they hear each other, and are a majority of the
     * newest view and of any that may turn out to follow it. */
    Members survivors() const
    {
        Members active;

        for (MemberId member = 0; member < job.size(); member++) {
            if (job.is_active(member)) {
                active.push_back(member);
            }
        }
        for (MemberId one : active) {
            for (MemberId other : active) {
                if (!job.are_connected(one, other)) {
                    return {};
                }
            }
        }
        for (const View &view : job.possible_views()) {
            const auto votes = std::ranges::count_if(active, [&](MemberId member) {
                return view.has(member, job.life_of(member));
            });
            if (!view.is_quorum(static_cast<std::size_t>(votes))) {
                return {};
            }
        }
        return active;
    }

    Members expected_;

  public:
    SimulatedMembership job;
};

/* For longer runs, or single ones. */
unsigned number_from_environment(const char *name, unsigned otherwise)
{
    const char *text = std::getenv(name);
    return text != nullptr ? static_cast<unsigned>(std::stoul(text)) : otherwise;
}

TEST(RandomMembership, IsOneSequenceOfViewsWhateverHappens)
{
    const unsigned first = number_from_environment("CKPT_MEMBERSHIP_FIRST", 0);
    const unsigned seeds = number_from_environment("CKPT_MEMBERSHIP_SEEDS", 1500);
    unsigned changed = 0, survived = 0;

    for (unsigned seed = first; seed < first + seeds; seed++) {
        Chaos chaos(seed);
        chaos.run();
        EXPECT_EQ(chaos.judgement(), "") << "seed " << seed;
        changed += chaos.job.newest() > 1 ? 1 : 0;
        survived += chaos.has_survivors() ? 1 : 0;
    }
    if (seeds > 100) { /* something does happen */
        EXPECT_GT(changed, seeds / 2);
        EXPECT_GT(survived, seeds / 2);
    }
    RecordProperty("changed", static_cast<int>(changed));
    RecordProperty("survived", static_cast<int>(survived));
}

/* ---- The judge can say no ------------------------------------------------ */

using Datagram = SimulatedMembership::Datagram;
using Break = std::function<SimulatedMembership::Mutation(SimulatedMembership &)>;

/* Runs with a protocol broken in this way of which something was found. */
int found(const Break &break_it)
{
    int found = 0;

    for (unsigned seed = 0; seed < 400; seed++) {
        Chaos chaos(seed);
        chaos.job.set_mutation(break_it(chaos.job));
        chaos.run();
        found += chaos.job.violations().empty() ? 0 : 1;
    }
    testing::Test::RecordProperty("found", found);
    return found;
}

/* An answer of a member that has said nothing. */
Datagram forged(const Datagram &datagram, std::size_t members)
{
    Datagram other = datagram;

    other.envelope.from = (other.envelope.from + 1) % static_cast<MemberId>(members);
    return other;
}

TEST(MembershipMutant, AMajorityTooSmallByOneIsFound)
{
    EXPECT_GT(found([](SimulatedMembership &job) {
                  return [&job](const Datagram &datagram) {
                      std::vector<Datagram> all{datagram};
                      if (std::holds_alternative<message::Acceptance>(
                              datagram.message) ||
                          std::holds_alternative<message::Promise>(datagram.message)) {
                          all.push_back(forged(datagram, job.size()));
                      }
                      return all;
                  };
              }),
              0);
}

/* Member 1 hears nothing of what member 0 proposes, so that it depends on promises when
 * that coordinator is dead. */
SimulatedMembership::Mutation forgetting(bool also_promises)
{
    return [also_promises](Datagram datagram) {
        auto *promise = std::get_if<message::Promise>(&datagram.message);
        if (promise != nullptr && also_promises) {
            promise->accepted = {};
            promise->view.reset();
        }
        if (std::holds_alternative<message::Proposal>(datagram.message) &&
            datagram.envelope.from == 0 && datagram.to == 1) {
            return std::vector<Datagram>{};
        }
        return std::vector{datagram};
    };
}

TEST(MembershipMutant, APromiseThatForgetsWhatWasAcceptedIsFound)
{
    for (bool also_promises : {false, true}) {
        for (unsigned seed = 0; seed < 20; seed++) {
            SimulatedMembership job(seed, 5, good_network);
            job.set_mutation(forgetting(also_promises));
            job.run(1s + job.draw(0ms, heartbeat));
            job.kill_next_coordinator();
            job.kill_node(3);
            job.run(5s);
            EXPECT_EQ(job.violations().empty(), !also_promises) << "seed " << seed;
            EXPECT_EQ(bool(is_settled(job)), !also_promises) << "seed " << seed;
        }
    }
}

/* Whoever has promised a higher ballot says yes to a lower one all the same. */
TEST(MembershipMutant, AForgottenPromiseIsFound)
{
    EXPECT_GT(found([](SimulatedMembership &) {
                  auto asked = std::make_shared<std::map<MemberId, Ballot>>();
                  return [asked](Datagram datagram) {
                      if (auto *proposal =
                              std::get_if<message::Proposal>(&datagram.message)) {
                          (*asked)[datagram.envelope.from] = proposal->ballot;
                      }
                      auto *denial = std::get_if<message::Denial>(&datagram.message);
                      if (denial != nullptr && asked->contains(datagram.to)) {
                          datagram.message = message::Acceptance{
                              denial->number, (*asked)[datagram.to]};
                      }
                      return std::vector{datagram};
                  };
              }),
              0);
}

/* A process that begins anew under the number of the one before it. */
TEST(MembershipMutant, AProcessWithoutMemoryIsFound)
{
    int found = 0;

    for (unsigned seed = 0; seed < 100; seed++) {
        Chaos chaos(seed);
        chaos.job.run(1s);
        chaos.job.partition({{0, 1}});
        chaos.job.run(3s);
        for (MemberId member = 2; member < chaos.job.size(); member++) {
            chaos.job.forget_everything(member);
        }
        chaos.job.heal();
        chaos.run();
        found += chaos.job.violations().empty() ? 0 : 1;
    }
    RecordProperty("found", found);
    EXPECT_GT(found, 0);
}

} // namespace

} // namespace ckpt::membership
