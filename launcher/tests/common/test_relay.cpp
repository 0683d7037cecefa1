/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_relay.cpp - the relay of standard input passes every byte once, in order; a reader that
 * stops it finds exactly the unread bytes.
 */
extern "C" {
#include "files/input.h"
}
#include "ckpt/input.h"

#include "common/fd.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace
{

using ckpt::Fd;

constexpr unsigned timeout_s = 60;

std::string numbers(int count)
{
    std::string text;
    for (int i = 0; i < count; i++) {
        text += std::to_string(i) + "\n";
    }
    return text;
}

class Relay : public ::testing::Test
{
  protected:
    void SetUp() override
    {
        ::alarm(timeout_s);
        program_ = std::filesystem::absolute("ckpt-stdin").string();
        std::signal(SIGPIPE, SIG_IGN);
    }
    void TearDown() override { ::alarm(0); }

    void open_source()
    {
        std::array<int, 2> ends{};
        ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        source_.reset(ends[0]);
        producer_.reset(ends[1]);
    }

    void start(struct ckpt_input_start how)
    {
        ckpt_failure failure = {};
        how.program = program_.c_str();
        how.source = source_ ? source_.get() : -1;
        input_.reset(ckpt_input_start(&how, &failure));
        ASSERT_TRUE(input_) << failure.text;
        source_.reset();
    }

    std::string read_some(std::size_t most) const
    {
        std::string text(most, '\0');
        const ssize_t size = ::read(input_.get(), text.data(), text.size());
        text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
        return text;
    }

    std::string read_all() const
    {
        std::string text;
        for (;;) {
            const std::string more = read_some(65536);
            if (more.empty()) {
                return text;
            }
            text += more;
        }
    }

    /* Returns the bytes that a checkpoint would save: all remaining input, once the producer has
     * ended. */
    std::string unread(ckpt_input_held &held) const
    {
        ckpt_failure failure = {};
        EXPECT_EQ(ckpt_input_hold(input_.get(), &held, &failure), 1) << failure.text;
        std::string bytes(held.size, '\0');
        EXPECT_EQ(ckpt_input_read(&held, bytes.data()), 0);
        return bytes;
    }

    std::string program_;
    Fd source_, producer_, input_;
};

TEST_F(Relay, HandsOnAllOfItAndTheEnd)
{
    const std::string text = numbers(300000);
    open_source();
    start({});
    std::thread producer([&] {
        std::size_t done = 0;
        while (done < text.size()) {
            done += static_cast<std::size_t>(
                ::write(producer_.get(), text.data() + done, text.size() - done));
        }
        producer_.reset();
    });
    EXPECT_EQ(read_all(), text);
    producer.join();
}

TEST_F(Relay, DropsWhatIsGivenOnceMore)
{
    const std::string text = numbers(5000);
    const std::string rest = "the bytes of the checkpoint\n";
    open_source();
    struct ckpt_input_start how = {};
    how.position = 700;
    how.bytes = rest.data();
    how.size = rest.size();
    how.skip = 700 + rest.size();
    start(how);
    ASSERT_EQ(::write(producer_.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
    producer_.reset();
    EXPECT_EQ(read_all(), rest + text.substr(how.skip));
}

TEST_F(Relay, WithoutASourceGivesTheBytesOnly)
{
    const std::string text = numbers(200000); /* more than a pipe holds */
    struct ckpt_input_start how = {};
    how.bytes = text.data();
    how.size = text.size();
    start(how);
    EXPECT_EQ(read_all(), text);
}

TEST_F(Relay, IsFoundByThePipeOnly)
{
    ckpt_input_held held{};
    ckpt_failure failure = {};
    open_source();
    EXPECT_EQ(ckpt_input_hold(source_.get(), &held, &failure), 0);
    /* Another process, which has no such memory file. */
    ASSERT_EQ(::fcntl(source_.get(), F_SETOWN, ::getpid()), 0);
    EXPECT_EQ(ckpt_input_hold(source_.get(), &held, &failure), 0);
}

TEST_F(Relay, EndsWithTheProgram)
{
    open_source();
    start({});
    input_.reset();
    pollfd file = {producer_.get(), 0, 0};
    EXPECT_EQ(::poll(&file, 1, -1), 1); /* no process has the other end */
    EXPECT_NE(file.revents & POLLERR, 0);
}

/* Checkpoints at random moments: the read bytes and the held ones always make up the input so far.
 * A relay that starts with the held bytes gives the same as the first one. */
TEST_F(Relay, EveryCheckpointHasEachByteOnce)
{
    const std::string text = numbers(200000);
    std::mt19937 random(1);
    std::string seen;
    open_source();
    start({});
    std::thread producer([&] {
        std::mt19937 sizes(2);
        std::size_t done = 0;
        while (done < text.size()) {
            const std::size_t size = std::min<std::size_t>(1 + sizes() % 9000,
                                                           text.size() - done);
            done += static_cast<std::size_t>(
                ::write(producer_.get(), text.data() + done, size));
        }
        producer_.reset();
    });
    while (seen.size() < text.size()) {
        seen += read_some(1 + random() % 4000);
        if (random() % 4 != 0) {
            continue;
        }
        ckpt_input_held held{};
        ckpt_failure failure = {};
        if (ckpt_input_hold(input_.get(), &held, &failure) == 0) {
            break; /* it has passed everything on */
        }
        std::string bytes(held.size, '\0');
        ASSERT_EQ(ckpt_input_read(&held, bytes.data()), 0);
        ASSERT_EQ(held.position, seen.size());
        ASSERT_EQ(bytes, text.substr(seen.size(), bytes.size()));
        ASSERT_TRUE((held.flags & CKPT_INPUT_ENDED) == 0 ||
                    seen.size() + bytes.size() == text.size());
        ckpt_input_release(&held);
    }
    seen += read_all();
    EXPECT_EQ(seen, text);
    producer.join();
}

/* The relay moves nothing until it is released. */
TEST_F(Relay, StandsStill)
{
    open_source();
    start({});
    ASSERT_EQ(::write(producer_.get(), "one", 3), 3);
    ASSERT_EQ(read_some(3), "one");
    ckpt_input_held held{};
    EXPECT_EQ(unread(held), "");
    ASSERT_EQ(::write(producer_.get(), "two", 3), 3);
    pollfd file = {input_.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&file, 1, 300), 0);
    EXPECT_EQ(held.page->taken, 3u);
    ckpt_input_release(&held);
    EXPECT_EQ(read_some(3), "two");
}

} // namespace
