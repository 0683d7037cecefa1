/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_connections.cpp - which sockets of ranks can be saved together.
 */
#include "common/error.hpp"
#include "image/memory/connections.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace
{

using ckpt::Connections;
using ckpt::RankImage;

struct Socket {
    std::uint64_t inode;
    std::uint64_t peer;
    std::uint32_t type = SOCK_STREAM;
};

/* A rank with these open sockets. */
RankImage rank_with(const std::vector<Socket> &sockets)
{
    RankImage image;
    image.strings = {'\0', 's', '\0'};
    for (const Socket &socket : sockets) {
        ckpt_file file{};
        file.kind = CKPT_FILE_SOCKET;
        file.descriptor = 3 + static_cast<int>(image.files.size());
        file.same_as = -1;
        file.inode = socket.inode;
        file.value = socket.peer;
        file.detail = socket.type;
        file.payload_size = 100;
        file.path = 1;
        image.files.push_back(file);
    }
    return image;
}

class ConnectionsOf : public testing::Test
{
  protected:
    void distribute(std::vector<RankImage> &&all)
    {
        Connections connections;
        ranks = std::move(all);
        for (std::size_t i = 0; i < ranks.size(); i++) {
            connections.survey(ranks[i], static_cast<int>(i));
        }
        any = connections.any();
        for (std::size_t i = 0; i < ranks.size(); i++) {
            connections.distribute(ranks[i], static_cast<int>(i));
        }
    }

    void expect_refused(std::vector<RankImage> &&all,
                        const std::vector<std::string> &words)
    {
        try {
            distribute(std::move(all));
            ADD_FAILURE() << "not refused";
        } catch (const ckpt::Error &error) {
            const std::string text = error.what();
            for (const std::string &word : words) {
                EXPECT_NE(text.find(word), text.npos) << text;
            }
        }
    }

    std::vector<RankImage> ranks;
    bool any = false;
};

TEST_F(ConnectionsOf, OneRankAreItsOwnAffair)
{
    distribute({rank_with({{10, 11}, {11, 10}, {12, 0}}), rank_with({{13, 0}})});
    EXPECT_FALSE(any);
    for (const ckpt_file &file : ranks[0].files) {
        EXPECT_EQ(file.sharers, 0u);
    }
}

TEST_F(ConnectionsOf, TwoRanksAreSharedAndEachFillsItsEnd)
{
    distribute({rank_with({{10, 11}}), rank_with({{12, 0}, {11, 10}})});
    EXPECT_TRUE(any);
    EXPECT_EQ(ranks[0].files[0].sharers, 2u);
    EXPECT_EQ(ranks[1].files[1].sharers, 2u);
    EXPECT_EQ(ranks[0].files[0].size, 100u);
    EXPECT_EQ(ranks[1].files[1].size, 100u);
    EXPECT_EQ(ranks[1].files[0].sharers, 0u);
}

TEST_F(ConnectionsOf, AnEndInTwoRanksIsFilledOnce)
{
    distribute({rank_with({{10, 11}, {11, 10}}), rank_with({{11, 10}})});
    EXPECT_EQ(ranks[0].files[0].sharers, 2u);
    EXPECT_EQ(ranks[0].files[1].size, 100u);
    EXPECT_EQ(ranks[1].files[0].sharers, 2u);
    EXPECT_EQ(ranks[1].files[0].size, 0u);
}

TEST_F(ConnectionsOf, StrangersAreRefusedByName)
{
    int ends[2];
    struct stat status {
    };

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ASSERT_EQ(fstat(ends[0], &status), 0);
    expect_refused({rank_with({{12, 0}}), rank_with({{11, status.st_ino}})},
                   {"rank 1: descriptor 3", "connected to process " + std::to_string(getpid()),
                    "test_connectio"});
    close(ends[0]);
    expect_refused({rank_with({{11, status.st_ino}})}, {"cannot be seen"});
    close(ends[1]);
}

TEST_F(ConnectionsOf, WhatCouldNotBeMadeAgainIsRefused)
{
    expect_refused({rank_with({{10, 0}}), rank_with({{10, 0}})},
                   {"open in the ranks 0 and 1", "without a connection"});
    expect_refused({rank_with({{10, 11, SOCK_DGRAM}}),
                    rank_with({{11, 0, SOCK_DGRAM}})},
                   {"rank 0", "one of rank 1 that is not connected to it"});
    expect_refused({rank_with({{10, 11}, {11, 10}}),
                    rank_with({{10, 11}, {11, 10}})},
                   {"open in the ranks 0 and 1 at once"});
    expect_refused({rank_with({{10, 11, SOCK_SEQPACKET}}),
                    rank_with({{11, 10, SOCK_SEQPACKET}}),
                    rank_with({{11, 10, SOCK_SEQPACKET}})},
                   {"rank 1", "open in the ranks 1 and 2 at once"});
}

/* A rank with ends of pipe 5, which no other rank has open. */
RankImage rank_with_pipe(const std::vector<int> &modes)
{
    constexpr char strings[] = "\0pipe:[5]";
    RankImage image;
    image.strings.assign(strings, strings + sizeof(strings));
    for (int mode : modes) {
        ckpt_file file{};
        file.kind = CKPT_FILE_PIPE;
        file.descriptor = 3 + static_cast<int>(image.files.size());
        file.same_as = -1;
        file.inode = 5;
        file.status_flags = static_cast<std::uint32_t>(mode);
        file.payload_size = mode == O_WRONLY ? 0 : 100;
        file.path = 1;
        image.files.push_back(file);
    }
    return image;
}

TEST_F(ConnectionsOf, PipesAreSharedAndFilledOnce)
{
    distribute({rank_with_pipe({O_WRONLY}), rank_with_pipe({O_RDONLY}),
                rank_with_pipe({O_RDONLY})});
    EXPECT_TRUE(any);
    EXPECT_EQ(ranks[0].files[0].sharers, 3u);
    EXPECT_EQ(ranks[1].files[0].size, 100u);
    EXPECT_EQ(ranks[2].files[0].size, 0u);
    distribute({rank_with_pipe({O_WRONLY, O_RDONLY}), rank_with({})});
    EXPECT_FALSE(any);
    EXPECT_EQ(ranks[0].files[0].sharers, 0u);
}

TEST_F(ConnectionsOf, PipesToStrangersAreRefused)
{
    expect_refused({rank_with({}), rank_with_pipe({O_RDONLY})},
                   {"rank 1: descriptor 3 (pipe:[5])", "other end is in"});
    expect_refused(
        {rank_with_pipe({O_RDWR}), rank_with_pipe({O_RDONLY, O_WRONLY})},
        {"both ends are open in the ranks 0 and 1"});
}

TEST(CountersOf, RanksAreTheirOwn)
{
    auto rank_with_counter = [](std::uint64_t id) {
        RankImage image;
        ckpt_file file{};
        image.strings = {'\0', 'c', '\0'};
        file.kind = CKPT_FILE_EVENTFD;
        file.inode = id;
        file.path = 1;
        image.files.push_back(file);
        return image;
    };
    RankImage first = rank_with_counter(7);
    RankImage second = rank_with_counter(7);
    RankImage third = rank_with_counter(8);
    Connections connections;
    connections.survey(first, 0);
    connections.survey(second, 1);
    connections.survey(third, 2);
    EXPECT_THROW(connections.distribute(second, 1), ckpt::Error);
    EXPECT_NO_THROW(connections.distribute(third, 2));
}

} // namespace
