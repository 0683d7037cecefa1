/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pmi_space.cpp - PMI-1 as ranks of MPICH speak it.
 */
#include "common/error.hpp"
#include "world/pmi_server.hpp"
#include "world/pmi_space.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <sys/socket.h>

using namespace ckpt;
using namespace ckpt::world;

namespace
{

World world_of(int ranks)
{
    World world;
    world.name = "ckpt-test";
    world.nodes = {{"n0", {}}};
    for (int rank = 0; rank < ranks; rank++) {
        world.nodes[0].ranks.push_back(rank);
    }
    return world;
}

/* Returns the only answer to a line. */
std::string answer(PmiSpace &space, int rank, const std::string &line)
{
    const auto outcome = space.obey(rank, line);
    EXPECT_EQ(outcome.answers.size(), 1u) << line;
    EXPECT_EQ(outcome.answers.at(0).rank, rank);
    return outcome.answers.at(0).line;
}

} // namespace

TEST(PmiSpace, TellsTheSizes)
{
    PmiSpace space(world_of(3));
    EXPECT_EQ(answer(space, 0, "cmd=init pmi_version=1 pmi_subversion=1"),
              "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
    EXPECT_EQ(answer(space, 0, "cmd=get_universe_size"), "cmd=universe_size size=3\n");
    EXPECT_EQ(answer(space, 1, "cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=ckpt-test\n");
    EXPECT_EQ(answer(space, 2, "cmd=get kvsname=ckpt-test key=PMI_process_mapping"),
              "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n");
}

TEST(PmiSpace, ValuesReachOtherRanks)
{
    PmiSpace space(world_of(2));
    EXPECT_EQ(answer(space, 0, "cmd=put kvsname=ckpt-test key=P0-card value=a=b c#"),
              "cmd=put_result rc=0 msg=success\n");
    EXPECT_EQ(answer(space, 1, "cmd=get kvsname=ckpt-test key=P0-card"),
              "cmd=get_result rc=0 msg=success value=a=b c#\n");
    EXPECT_EQ(answer(space, 1, "cmd=get kvsname=ckpt-test key=P1-card"),
              "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

TEST(PmiSpace, ValuesThatAreTooLongAreRefused)
{
    PmiSpace space(world_of(1));
    EXPECT_EQ(answer(space, 0, "cmd=put key=k value=" + std::string(1024, 'x')),
              "cmd=put_result rc=0 msg=success\n");
    EXPECT_EQ(answer(space, 0, "cmd=put key=k value=" + std::string(1025, 'x')),
              "cmd=put_result rc=-1 msg=wrong_length\n");
    EXPECT_EQ(answer(space, 0, "cmd=put value=x"), "cmd=put_result rc=-1 msg=wrong_length\n");
    EXPECT_EQ(answer(space, 0, "cmd=put key=" + std::string(65, 'k') + " value=x"),
              "cmd=put_result rc=-1 msg=wrong_length\n");
}

TEST(PmiSpace, ABarrierIsLeftByAllOrNobody)
{
    PmiSpace space(world_of(3));
    for (int round = 0; round < 2; round++) {
        EXPECT_TRUE(space.obey(2, "cmd=barrier_in").answers.empty());
        EXPECT_TRUE(space.obey(2, "cmd=barrier_in").answers.empty()); /* again: counts once */
        EXPECT_TRUE(space.obey(0, "cmd=barrier_in").answers.empty());
        const auto last = space.obey(1, "cmd=barrier_in");
        ASSERT_EQ(last.answers.size(), 3u);
        for (int rank = 0; rank < 3; rank++) {
            EXPECT_EQ(last.answers[static_cast<std::size_t>(rank)].rank, rank);
        }
    }
}

TEST(PmiSpace, EventsAreTold)
{
    PmiSpace space(world_of(1));
    EXPECT_EQ(space.obey(0, "cmd=init pmi_version=1 pmi_subversion=1").event,
              RankEvent::Kind::connected);
    EXPECT_EQ(space.obey(0, "cmd=finalize").event, RankEvent::Kind::finalized);
    const auto end = space.obey(0, "cmd=abort exitcode=7");
    EXPECT_EQ(end.event, RankEvent::Kind::aborted);
    EXPECT_EQ(end.status, 7);
    EXPECT_TRUE(end.answers.empty());
}

TEST(PmiSpace, OtherCommandsAreRefused)
{
    PmiSpace space(world_of(1));
    EXPECT_EQ(answer(space, 0, "cmd=lookup_name service=x"),
              "cmd=lookup_result rc=-1 msg=not_supported\n");
    EXPECT_EQ(answer(space, 0, "mcmd=spawn"), "cmd=_result rc=-1 msg=not_supported\n");
    EXPECT_EQ(answer(space, 0, ""), "cmd=_result rc=-1 msg=not_supported\n");
}

TEST(PmiSpace, SeveralNodesAreRefused)
{
    World world = world_of(1);
    world.nodes.push_back({"n1", {1}});
    EXPECT_THROW(PmiSpace{world}, Error);
}

TEST(PmiServer, LinesMayArriveInPieces)
{
    EventLoop loop;
    std::vector<RankEvent::Kind> events;
    PmiServer server(loop, world_of(1),
                     [&](const RankEvent &event) { events.push_back(event.kind); });
    const Fd rank = server.take_endpoint(0);
    const std::string all = "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_universe_size\n"
                            "cmd=finalize\n";
    const std::string expected = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
                                 "cmd=universe_size size=1\ncmd=finalize_ack\n";
    std::string answers;

    for (char byte : all) {
        ASSERT_EQ(send(rank.get(), &byte, 1, 0), 1);
        loop.turn(std::chrono::steady_clock::now() + std::chrono::seconds(10));
        char got[200];
        const ssize_t size = recv(rank.get(), got, sizeof got, MSG_DONTWAIT);
        answers.append(got, size > 0 ? static_cast<std::size_t>(size) : 0);
    }
    EXPECT_EQ(answers, expected);
    EXPECT_EQ(events, (std::vector{RankEvent::Kind::connected, RankEvent::Kind::finalized}));
}

TEST(PmiServer, AnEndlessLineClosesTheConnection)
{
    EventLoop loop;
    PmiServer server(loop, world_of(1), [](const RankEvent &) {});
    const Fd rank = server.take_endpoint(0);
    const std::string part(3000, 'x');

    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(send(rank.get(), part.data(), part.size(), MSG_NOSIGNAL), 3000);
        loop.turn(std::chrono::steady_clock::now() + std::chrono::seconds(10));
    }
    char byte;
    EXPECT_EQ(recv(rank.get(), &byte, 1, 0), 0);
}
