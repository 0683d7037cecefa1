/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_world_message.cpp - worlds that are refused, and messages of ckpt-world.
 */
#include "common/error.hpp"
#include "world/world_message.hpp"

#include <gtest/gtest.h>

using namespace ckpt;
using namespace ckpt::world;

namespace
{

World two_nodes()
{
    World world;
    world.name = "ckpt-job.0.1";
    world.nodes = {{"n0", {0, 2}}, {"n1", {1, 3, 4}}};
    world.own_node = 1;
    world.directory = "/tmp/x";
    return world;
}

void expect_refused(const World &world, const std::string &why)
{
    try {
        require_valid(world);
        ADD_FAILURE() << "accepted: " << why;
    } catch (const Error &problem) {
        EXPECT_NE(std::string(problem.what()).find(why), std::string::npos) << problem.what();
    }
}

/* Returns the message that a reader finds in the bytes. */
std::optional<Message> read_back(const std::string &bytes)
{
    FrameReader reader;
    reader.add(bytes);
    return reader.next();
}

} // namespace

TEST(World, RanksMayBeInAnyOrderOnNodes)
{
    EXPECT_NO_THROW(require_valid(two_nodes()));
    EXPECT_EQ(two_nodes().size(), 5);
    EXPECT_EQ(two_nodes().here().host, "n1");
}

TEST(World, WrongOnesAreRefused)
{
    World world = two_nodes();
    world.name.clear();
    expect_refused(world, "name of a world");
    world = two_nodes();
    world.name = "ckpt-" + std::string(251, 'x');
    expect_refused(world, "name of a world");
    world = two_nodes();
    world.own_node = 2;
    expect_refused(world, "has no node 2");
    world = two_nodes();
    world.nodes[0].host = "n0,n2";
    expect_refused(world, "'n0,n2' cannot be the name of a node");
    world = two_nodes();
    world.nodes[1].ranks.pop_back();
    world.nodes[0].ranks = {0, 5};
    expect_refused(world, "rank 2 is missing");
    world = two_nodes();
    world.nodes[0].ranks = {0, 1};
    expect_refused(world, "rank 2 is missing");
    world = two_nodes();
    world.nodes[0].ranks = {2, 0};
    expect_refused(world, "not in order");
    world = two_nodes();
    world.nodes[0].ranks.clear();
    expect_refused(world, "missing or not in order");
}

TEST(WorldMessage, ComesBackAsItWas)
{
    const auto world = read_back(to_frame(Register{two_nodes()}));
    ASSERT_TRUE(world && std::holds_alternative<Register>(*world));
    EXPECT_EQ(std::get<Register>(*world).world, two_nodes());

    const auto process = read_back(to_frame(Process{"a", 3, 4711}));
    ASSERT_TRUE(process && std::holds_alternative<Process>(*process));
    EXPECT_EQ(std::get<Process>(*process).rank, 3);
    EXPECT_EQ(std::get<Process>(*process).pid, 4711);

    const auto forget = read_back(to_frame(Forget{"a"}));
    ASSERT_TRUE(forget && std::holds_alternative<Forget>(*forget));
    EXPECT_EQ(std::get<Forget>(*forget).name, "a");

    const FenceId id{"a", {1, 4}, 2};
    const std::string bytes("\0\xff\n", 3);
    const auto part = read_back(to_frame(FencePart{id, bytes}));
    ASSERT_TRUE(part && std::holds_alternative<FencePart>(*part));
    EXPECT_EQ(std::get<FencePart>(*part).id, id);
    EXPECT_EQ(std::get<FencePart>(*part).data, bytes);

    const auto result = read_back(to_frame(FenceResult{id, true, bytes}));
    ASSERT_TRUE(result && std::holds_alternative<FenceResult>(*result));
    EXPECT_EQ(std::get<FenceResult>(*result).id, id);
    EXPECT_TRUE(std::get<FenceResult>(*result).is_complete);
    EXPECT_EQ(std::get<FenceResult>(*result).data, bytes);

    const auto started = read_back(to_frame(Started{"1.0", "PMIx"}));
    ASSERT_TRUE(started && std::holds_alternative<Started>(*started));
    EXPECT_EQ(std::get<Started>(*started).library, "PMIx");

    const auto forgotten = read_back(to_frame(Forgotten{"a"}));
    ASSERT_TRUE(forgotten && std::holds_alternative<Forgotten>(*forgotten));
    EXPECT_EQ(std::get<Forgotten>(*forgotten).name, "a");
    const auto registered = read_back(to_frame(Registered{"a", {{3, {"A=1", "B="}}, {4, {}}}}));
    ASSERT_TRUE(registered && std::holds_alternative<Registered>(*registered));
    const auto &environments = std::get<Registered>(*registered).environments;
    EXPECT_EQ(environments.at(3), (std::vector<std::string>{"A=1", "B="}));
    EXPECT_TRUE(environments.at(4).empty());

    const auto refused = read_back(to_frame(Refused{"a", "no"}));
    ASSERT_TRUE(refused && std::holds_alternative<Refused>(*refused));
    EXPECT_EQ(std::get<Refused>(*refused).why, "no");
}

TEST(WorldMessage, EachKindOfEventComesBack)
{
    using Kind = RankEvent::Kind;
    for (Kind kind : {Kind::connected, Kind::finalized, Kind::aborted, Kind::lost}) {
        const auto message = read_back(to_frame(RankEvent{kind, "a", 7, -3, "text"}));
        ASSERT_TRUE(message && std::holds_alternative<RankEvent>(*message));
        const auto &event = std::get<RankEvent>(*message);
        EXPECT_EQ(event.kind, kind);
        EXPECT_EQ(event.rank, 7);
        EXPECT_EQ(event.status, -3);
        EXPECT_EQ(event.text, "text");
    }
}

TEST(WorldMessage, FramesArriveInPieces)
{
    const std::string both = to_frame(Forget{"first"}) + to_frame(Forget{"second"});
    FrameReader reader;
    std::vector<std::string> names;

    for (char byte : both) {
        reader.add(std::string_view(&byte, 1));
        while (const auto message = reader.next()) {
            names.push_back(std::get<Forget>(*message).name);
        }
    }
    EXPECT_EQ(names, (std::vector<std::string>{"first", "second"}));
}

TEST(WorldMessage, WrongFramesAreRefused)
{
    EXPECT_THROW(read_back(std::string(4, '\xff')), Error);           /* too long */
    EXPECT_THROW(read_back(std::string("\x01\0\0\0\xff", 5)), Error); /* not CBOR */
    EXPECT_THROW(read_back(std::string("\x01\0\0\0\xa0", 5)), Error); /* no type */
    EXPECT_THROW(read_back(std::string("\x01\0\0\0\x05", 5)), Error); /* not an object */
    std::string unknown = to_frame(Forget{"a"});
    unknown.replace(unknown.find("forget"), 6, "forgot");
    EXPECT_THROW(read_back(unknown), Error);
}

TEST(WorldMessage, NoChangedByteDoesHarm)
{
    const std::string frame = to_frame(Registered{"a", {{3, {"A=1"}}}});

    for (std::size_t at = 0; at < frame.size(); at++) {
        for (int value = 0; value < 256; value++) {
            std::string changed = frame;
            changed[at] = static_cast<char>(value);
            try {
                (void)read_back(changed);
            } catch (const Error &) {
                continue;
            }
        }
    }
}
