/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_membership_service.cpp - the membership over real sockets, on loopback: with members that
 * are frozen, killed and replaced, in simulated time; and in real time.
 */
#include "tests/membership/timed_members.hpp"

#include "common/error.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ckpt::membership
{

namespace
{

using namespace std::chrono_literals;
using test::TimedMembers;
using test::Told;

constexpr Protocol::Options defaults;
constexpr auto H = defaults.heartbeat;

bool is_change(const Told &told)
{
    return told.kind == Told::view && told.number > 1;
}

/* ---- In simulated time --------------------------------------------------- */

class OverLoopback : public testing::TestWithParam<const char *>
{
};

void await_first_view(TimedMembers &job, std::size_t members)
{
    for (std::size_t i = 0; i < members; i++) {
        auto told = job.await([](const Told &) { return true; });
        ASSERT_TRUE(told);
        EXPECT_EQ(told->kind, Told::view);
        EXPECT_EQ(told->number, 1u);
    }
}

/* A frozen process is as silent as a dead node. */
TEST_P(OverLoopback, ASilentMemberIsOut)
{
    TimedMembers job(4, {}, GetParam());
    await_first_view(job, 4);
    EXPECT_FALSE(job.await(is_change, 1500ms)) << "all are well";

    const auto frozen = job.now();
    job.freeze(2);
    auto change = job.await(is_change);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->size, 3u);
    EXPECT_EQ(change->who, 2u);
    EXPECT_EQ(change->reason, Reason::silent);
    EXPECT_GT(change->when - frozen, H * 3 / 2) << "2.5 H after its last sign of life";
    EXPECT_LE(change->when - frozen, 3 * H);
    job.thaw(2);
    auto told = job.await([](const Told &told) { return told.member == 2; });
    ASSERT_TRUE(told);
    EXPECT_EQ(told->kind, Told::excluded);
}

TEST_P(OverLoopback, AKilledProcessMayBeReplaced)
{
    TimedMembers job(3, {}, GetParam());
    await_first_view(job, 3);
    EXPECT_FALSE(job.await(is_change, 500ms)) << "all are well";

    job.kill(1);
    EXPECT_FALSE(job.await(is_change, 1500ms)) << "its node lives, says the kernel";
    const auto replaced = job.now();
    job.replace(1);
    auto change = job.await(is_change);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->number, 2u);
    EXPECT_EQ(change->size, 3u);
    EXPECT_EQ(change->departed, 0u);
    EXPECT_EQ(change->who, 1u);
    EXPECT_LE(change->when - replaced, H);
    auto own = change->member == 1
                   ? change
                   : job.await([](const Told &told) { return told.member == 1; });
    ASSERT_TRUE(own);
    EXPECT_EQ(own->kind, Told::view);
    EXPECT_EQ(own->number, 2u);
}

TEST_P(OverLoopback, AKilledProcessThatIsNotReplacedIsOut)
{
    TimedMembers job(3, {.replacement = 1s}, GetParam());
    await_first_view(job, 3);
    EXPECT_FALSE(job.await(is_change, 500ms)) << "all are well";

    const auto killed = job.now();
    job.kill(0); /* the coordinator */
    auto change = job.await(is_change);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->who, 0u);
    EXPECT_EQ(change->reason, Reason::gone);
    EXPECT_GE(change->when - killed, 1s);
    EXPECT_LE(change->when - killed, 1s + 2 * H) << "who is next begins";
}

INSTANTIATE_TEST_SUITE_P(Addresses, OverLoopback, testing::Values("::1", "127.0.0.1"),
                         [](const auto &info) {
                             return std::string(info.param) == "::1" ? "IPv6" : "IPv4";
                         });

/* ---- In real time -------------------------------------------------------- */

struct Member {
    std::unique_ptr<Service> service;
    std::uint64_t view = 0;
    std::optional<action::Excluded> excluded;

    Service::Handlers handlers()
    {
        return {.view = [this](const action::Install &install) { view = install.view.number; },
                .excluded =
                    [this](const action::Excluded &what) {
                        excluded = what;
                        service.reset(); /* a handler may do this */
                    },
                .lost_majority = {},
                .link = {}};
    }
};

/* Runs the loop until the condition holds, for at most half a minute. */
bool turn_until(EventLoop &loop, const std::function<bool()> &is_so)
{
    const auto end = EventLoop::Time::clock::now() + 30s;

    while (!is_so() && EventLoop::Time::clock::now() < end) {
        loop.turn(EventLoop::Time::clock::now() + 100ms);
    }
    return is_so();
}

Table table_for(const std::vector<std::uint16_t> &ports, MemberId self)
{
    static const MessageKey key = MessageKey::make();
    Table table;

    for (std::uint16_t port : ports) {
        table.members.push_back({"here", {"localhost", "127.0.0.1"}, port});
    }
    table.self = self;
    table.key = key;
    return table;
}

TEST(MembershipService, AMemberMayLeaveAndItsHandlerEndIt)
{
    EventLoop loop;
    UdpSocket sockets[] = {UdpSocket(0), UdpSocket(0), UdpSocket(0)};
    std::vector<std::uint16_t> ports;
    Member members[3];

    for (const UdpSocket &socket : sockets) {
        ports.push_back(socket.port());
    }
    for (MemberId i = 0; i < 3; i++) {
        members[i].service =
            std::make_unique<Service>(loop, std::move(sockets[i]), table_for(ports, i),
                                      Protocol::Options{}, members[i].handlers());
        EXPECT_EQ(members[i].view, 0u) << "no handler is called before the loop turns";
    }
    ASSERT_TRUE(turn_until(loop, [&] { return members[2].view == 1; }));
    members[1].service->leave();
    ASSERT_TRUE(turn_until(loop, [&] {
        return members[0].view == 2 && members[2].view == 2 && members[1].excluded;
    }));
    EXPECT_EQ(members[1].service, nullptr);
    EXPECT_EQ(members[0].service->host(1), "here");
}

TEST(MembershipService, ALateMemberOfAnOlderIncarnationIsTurnedAway)
{
    EventLoop loop;
    UdpSocket old_socket(0), present_socket(0);
    const std::vector<std::uint16_t> ports{old_socket.port(), present_socket.port()};
    Table old_table = table_for(ports, 0), present_table = table_for(ports, 1);
    Member old_member, present;

    present_table.incarnation = 3;
    present.service =
        std::make_unique<Service>(loop, std::move(present_socket), present_table,
                                  Protocol::Options{}, present.handlers());
    old_table.incarnation = 2;
    old_member.service =
        std::make_unique<Service>(loop, std::move(old_socket), old_table,
                                  Protocol::Options{}, old_member.handlers());
    ASSERT_TRUE(turn_until(loop, [&] { return old_member.excluded.has_value(); }));
    EXPECT_EQ(old_member.excluded->by, action::Excluded::By::incarnation);
    EXPECT_EQ(old_member.excluded->number, 3u);
    EXPECT_GT(present.service->dropped(Drop::older), 0u);
    EXPECT_EQ(present.service->protocol().view().number, 1u);
}

TEST(MembershipService, CountsWhatItDoesNotLetIn)
{
    EventLoop loop;
    UdpSocket socket(0), stranger(0);
    const std::uint16_t port = socket.port();
    const auto endpoint = *Endpoint::parse("127.0.0.1", port);
    const std::vector<std::byte> noise(100);
    Gate::Identity identity{MessageKey::make(), 1, 1, first_life, 2};
    Gate other_job(identity);
    Member member;

    member.service = std::make_unique<Service>(
        loop, std::move(socket), table_for({port, stranger.port()}, 0),
        Protocol::Options{}, member.handlers());
    ASSERT_TRUE(stranger.send(noise, endpoint));
    ASSERT_TRUE(stranger.send(other_job.seal(0, 1, message::Heartbeat{}), endpoint));
    EXPECT_TRUE(turn_until(loop, [&] {
        return member.service->dropped(Drop::foreign) == 1 &&
               member.service->dropped(Drop::forged) == 1;
    }));
}

TEST(MembershipService, RefusesATableThatItCannotUse)
{
    EventLoop loop;
    Table table = table_for({1, 2}, 0);

    table.members[1] = {"far", {"a-name", "fe80::1%no-such-interface"}, 7};
    EXPECT_THROW(Service(loop, UdpSocket(0), table, {}, {}), Error);
    table.members.resize(most_members + 1);
    EXPECT_THROW(Service(loop, UdpSocket(0), table, {}, {}), Error);
}

TEST(MembershipSocket, HasThePortThatItIsGiven)
{
    UdpSocket one(0);

    EXPECT_NE(one.port(), 0);
    EXPECT_THROW(UdpSocket(one.port()), Error);
    EXPECT_FALSE(Endpoint::parse("localhost", 1).has_value());
    EXPECT_TRUE(Endpoint::parse("127.0.0.1", 1)->is_loopback());
    EXPECT_FALSE(Endpoint::parse("192.0.2.1", 1)->is_loopback());
}

TEST(MembershipSocket, TellsWhoseNodeHasNobodyListening)
{
    for (const char *address : {"127.0.0.1", "::1"}) {
        UdpSocket one(0);
        std::uint16_t port;
        {
            UdpSocket other(0);
            port = other.port();
        }
        const auto nowhere = *Endpoint::parse(address, port);
        const auto self = *Endpoint::parse(address, one.port());
        const std::vector<std::byte> bytes(10);
        std::byte buffer[100];
        one.send(bytes, nowhere);
        EXPECT_TRUE(one.send(bytes, self)) << "an old error does no harm";
        EXPECT_TRUE(one.receive(buffer)) << address;
        auto refused = one.refused();
        ASSERT_TRUE(refused) << address;
        EXPECT_TRUE(*refused == nowhere);
        EXPECT_FALSE(one.refused());
    }
}

} // namespace

} // namespace ckpt::membership
