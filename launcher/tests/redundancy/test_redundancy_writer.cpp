/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_redundancy_writer.cpp - two nodes protect one checkpoint after the other: the fate of the
 * files of old checkpoints.
 */
#include "config.h"
#include "agent/blocks/redundancy_writer.hpp"

#include "common/files/files.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/store.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <future>
#include <optional>

namespace ckpt
{

namespace
{

namespace fs = std::filesystem;

/* A node with its own piece of each checkpoint. */
struct TestNode {
    TestNode(const fs::path &directory, const std::string &host, const MessageKey &key)
        : store(Store::create(directory))
    {
        settings.launch_namespace = "launch";
        settings.directory = directory;
        settings.slow_directory = directory / "slow";
        settings.host = host;
        writer.serve(key);
    }

    Settings settings{ckpt::settings::Values()};
    RejectedFrames rejected;
    Store store;
    RedundancyWriter writer{settings, rejected};
};

class Writers : public testing::Test
{
  protected:
    Writers()
    {
        const MessageKey key = MessageKey::make();
        spdlog::set_level(spdlog::level::warn);
        for (std::size_t i = 0; i < nodes_.size(); i++) {
            nodes_[i].emplace(scratch_ / host(i), host(i), key);
        }
    }

    static std::string host(std::size_t i) { return "n" + std::to_string(i); }

    /* A checkpoint whose pieces have `bytes` bytes, with parity. */
    void checkpoint(std::uint64_t number, std::size_t bytes)
    {
        RedundancyOrder order;
        std::vector<redundancy::Member> members;

        for (std::size_t i = 0; i < nodes_.size(); i++) {
            const std::string content(bytes, static_cast<char>('a' + number));
            const fs::path directory = nodes_[i]->store.begin_checkpoint("job", number);
            write_text_file(directory / node_file_name(host(i)), content, "piece");
            members.push_back({host(i), node_file_name(host(i)), bytes});
            order.places.push_back(nodes_[i]->writer.place());
        }
        order.number = number;
        order.group = redundancy::Group::make(1, members);
        for (order.self = 0; order.self < nodes_.size(); order.self++) {
            order.directory = directory(order.self, number);
            std::promise<std::string> error;
            nodes_[order.self]->writer.write(
                order, [&](const std::string &text) { error.set_value(text); });
            ASSERT_EQ(error.get_future().get(), "");
        }
    }
    void discard(std::uint64_t number)
    {
        for (auto &node : nodes_) {
            node->store.remove("job", number);
        }
    }

    fs::path directory(std::size_t i, std::uint64_t number) const
    {
        return nodes_[i]->store.directory_of("job", number);
    }
    fs::path parity(std::size_t i, std::uint64_t number) const
    {
        return directory(i, number) / parity_file_name(host(i));
    }
    struct stat status(const fs::path &path) const
    {
        struct stat status = {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
        return status;
    }
    /* Each of the two nodes has a copy of the other's piece. */
    void expect_protected(std::uint64_t number, std::size_t bytes) const
    {
        for (std::size_t i = 0; i < nodes_.size(); i++) {
            const std::string text = read_text_file(parity(i, number), "parity");
            EXPECT_EQ(text.substr(0, bytes),
                      std::string(bytes, static_cast<char>('a' + number)));
            EXPECT_EQ(status(parity(i, number)).st_mode & 07777, 0600u);
        }
    }

    test::ScratchDirectory scratch_;
    std::array<std::optional<TestNode>, 2> nodes_;
};

TEST_F(Writers, TheRoomOfParityThatIsGoneIsUsedAgain)
{
    checkpoint(1, 300000);
    checkpoint(2, 300000);
    const ino_t first = status(parity(0, 1)).st_ino;
    const Fd open = open_file(parity(0, 1), O_RDONLY, 0, "parity"); /* keeps its inode in use */
    discard(1);
    checkpoint(3, 200000);
    expect_protected(2, 300000);
    expect_protected(3, 200000);
    EXPECT_EQ(status(parity(0, 3)).st_ino, first);
    EXPECT_LT(status(parity(0, 3)).st_size, 300000);

    discard(2);
    checkpoint(4, 500000);
    expect_protected(3, 200000);
    expect_protected(4, 500000);
}

TEST_F(Writers, ParityThatIsStillThereIsLeftAlone)
{
    for (std::uint64_t number = 1; number <= 4; number++) {
        checkpoint(number, 300000);
    }
    for (std::uint64_t number = 1; number <= 4; number++) {
        expect_protected(number, 300000);
    }
}

/* No other directory has a file of the checkpoint. */
TEST_F(Writers, NothingOutlivesTheCheckpoints)
{
    checkpoint(1, 300000);
    checkpoint(2, 300000);
    discard(1);
    discard(2);
    remove_job_directory_if_empty(nodes_[0]->store.directory() / "job");
    EXPECT_FALSE(fs::exists(nodes_[0]->store.directory() / "job"));
    checkpoint(3, 300000);
    expect_protected(3, 300000);
}

} // namespace

} // namespace ckpt
