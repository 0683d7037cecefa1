/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_fabric.cpp - nodes read one another's files over a fabric: the data that they get, the data
 * that they refuse, and the fallback to TCP. The provider runs on top of TCP, which is available on
 * every machine.
 */
#include "config.h"
#include "agent/blocks/block_request.hpp"
#include "agent/blocks/block_server.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/blocks/fabric_use.hpp"
#include "agent/blocks/remote_source.hpp"
#include "redundancy/parity_file.hpp"
#include "tests/redundancy/served_piece.hpp"
#include "tests/common/tcp_relay.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace ckpt::redundancy
{

namespace
{

using nlohmann::json;
using std::chrono::steady_clock;
using test::error_of;
using test::PieceGroup;

const char provider[] = "tcp";
const std::string directory = test::group_job + "/" + test::group_number;
const PeerIdentity server_identity = {"launch", "n0", 1}, caller_identity = {"launch", "n1", 1};
constexpr std::chrono::milliseconds short_timeout{2000};

/* ---- Choices ----------------------------------------------------------------------- */

TEST(Choice, IsAutoOrOffOrAName)
{
    EXPECT_TRUE(fabric::Choice().is_off());
    EXPECT_TRUE(fabric::Choice::parse("off").is_off());
    EXPECT_TRUE(fabric::Choice::parse("auto").is_auto());
    EXPECT_EQ(fabric::Choice::parse("tcp").name(), "tcp");
    for (const char *bad : {"", "a b", "verbs,efa", "TCP", "verbs\n", "tcp;ofi_rxm"}) {
        EXPECT_NE(error_of([&] { fabric::Choice::parse(bad); }), "") << bad;
    }
}

TEST(Choice, AutoTakesOnlyHardware)
{
    const auto choice = fabric::Choice::parse("auto");

    for (const char *good : {"verbs;ofi_rxm", "efa", "cxi", "opx", "psm3"}) {
        EXPECT_TRUE(choice.accepts(good)) << good;
    }
    for (const char *bad : {"tcp;ofi_rxm", "sockets", "udp;ofi_rxd", "net;ofi_rxm", "shm", ""}) {
        EXPECT_FALSE(choice.accepts(bad)) << bad;
    }
    EXPECT_FALSE(fabric::Choice().accepts("verbs;ofi_rxm"));
}

TEST(Answer, LentMemoryIsToldAsItIs)
{
    const fabric::Lent lent{std::string("\x02\0\xff\x80", 4), ~0ull, 1ull << 63};
    const auto back = json(BlockAnswer{"", 5, 4, lent, ""}).get<BlockAnswer>();

    ASSERT_TRUE(back.lent);
    EXPECT_EQ(back.lent->address, lent.address);
    EXPECT_EQ(back.lent->key, lent.key);
    EXPECT_EQ(back.lent->base, lent.base);
    json bad = BlockAnswer{"", 5, 4, lent, ""};
    bad["lent"]["address"] = std::vector<int>(257, 1);
    EXPECT_THROW(bad.get<BlockAnswer>(), Rejected);
    bad["lent"] = {{"address", json::array()}, {"key", -1}, {"base", 0u}};
    EXPECT_THROW(bad.get<BlockAnswer>(), Rejected);
}

/* ---- A server with registered memory ------------------------------------------------- */

/* A sink whose text can be read while other threads log. */
class TextSink : public spdlog::sinks::base_sink<std::mutex>
{
  public:
    std::string text()
    {
        std::lock_guard lock(mutex_);
        return text_;
    }

  private:
    void sink_it_(const spdlog::details::log_msg &message) override
    {
        spdlog::memory_buf_t line;
        formatter_->format(message, line);
        text_.append(line.data(), line.size());
    }
    void flush_() override {}

    std::string text_;
};

/* The lines that all threads log. */
class Log
{
  public:
    Log()
    {
        auto logger = std::make_shared<spdlog::logger>("test", sink_);
        logger->set_pattern("%v");
        spdlog::set_default_logger(std::move(logger));
    }
    ~Log() { spdlog::set_default_logger(std::make_shared<spdlog::logger>("none")); }

    std::size_t count(const std::string &part) const
    {
        const std::string text = this->text();
        std::size_t found = 0;
        for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
            found++;
        }
        return found;
    }
    std::string text() const { return sink_->text(); }

  private:
    const std::shared_ptr<TextSink> sink_ = std::make_shared<TextSink>();
};

/* A fault with another name than the last test's: the same one would not strike again. */
class Fault
{
  public:
    explicit Fault(const char *name) { ::setenv("CKPT_FAULT", name, 1); }
    ~Fault() { ::unsetenv("CKPT_FAULT"); }
};

class Fabric : public test::ServedPiece
{
  protected:
    Fabric()
        : wanted_(fabric::Choice::parse(provider)), use_(wanted_) { serve(wanted_); }
    ~Fabric() override { server_.reset(); /* it writes to the log */ }

    void SetUp() override
    {
        try {
            fabric::Endpoint(wanted_, "");
        } catch (const fabric::Failure &failure) {
            GTEST_SKIP() << failure.what();
        }
    }

    void serve(const fabric::Choice &choice)
    {
        server_.emplace(server_identity, MessageKey::make(), nodes_.root(0), rejected_, choice);
    }
    RemoteSource source(std::chrono::milliseconds timeout = RemoteSource::usual_timeout)
    {
        return RemoteSource(server_->address(), caller_identity, directory, timeout, &use_);
    }
    bool has_used_fabric() const { return log_.count("read over the fabric") == 1; }
    std::size_t fallbacks() const { return log_.count("are read over TCP"); }

    /* The whole file comes over TCP, and one line in the log says why. */
    void expect_fallback(const std::string &reason)
    {
        RemoteSource remote = source(short_timeout);
        EXPECT_TRUE(read(remote, 0, content().size()) == content());
        EXPECT_EQ(fallbacks(), 1u) << log_.text();
        EXPECT_EQ(log_.count(reason), 1u) << log_.text();
        RemoteSource again = source();
        EXPECT_TRUE(read(again, 0, content().size()) == content());
        EXPECT_EQ(fallbacks(), 1u) << log_.text();
        EXPECT_EQ(rejected_.total(), 0u);
    }

    Log log_;
    const fabric::Choice wanted_;
    FabricUse use_;
};

TEST_F(Fabric, GivesWhatTheFileHas)
{
    RemoteSource remote = source();

    EXPECT_EQ(remote.size(file()), content().size());
    for (std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{block_bytes},
                                 std::uint64_t{content().size() - 1},
                                 std::uint64_t{content().size()}, std::uint64_t{1} << 62}) {
        for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, block_bytes - 1, block_bytes,
                                  block_bytes + 1, content().size(), content().size() + 4096}) {
            ASSERT_TRUE(read(remote, offset, bytes) == expected(offset, bytes))
                << bytes << " at " << offset;
        }
    }
    EXPECT_TRUE(has_used_fabric()) << log_.text();
    EXPECT_EQ(fallbacks(), 0u) << log_.text();
    EXPECT_EQ(rejected_.total(), 0u);
}

TEST_F(Fabric, AnnouncedRangesAreReadInPartsOfAnySize)
{
    for (std::size_t part : {std::size_t{1000}, block_bytes, block_bytes + 1, slice_bytes}) {
        RemoteSource remote = source();
        const Range ranges[] = {
            {0, content().size()}, {77, block_bytes}, {block_bytes, 4 * block_bytes}};
        ASSERT_NO_FATAL_FAILURE(expect_announced(remote, ranges, part));
    }
    EXPECT_TRUE(has_used_fabric()) << log_.text();
    EXPECT_EQ(fallbacks(), 0u) << log_.text();
}

TEST_F(Fabric, AFileThatIsNotThereIsToldAndNothingElseIsLost)
{
    RemoteSource remote = source();
    std::byte byte;

    EXPECT_NE(error_of([&] { remote.read("none.h5", 0, {&byte, 1}); }), "");
    EXPECT_TRUE(read(remote, 0, 100) == expected(0, 100));
    EXPECT_TRUE(has_used_fabric()) << log_.text();
}

/* If another checkpoint's file replaces a file, the server serves the new one. */
TEST_F(Fabric, WhatHasReplacedAFileIsReadInItsPlace)
{
    RemoteSource remote = source();
    ASSERT_TRUE(read(remote, 0, 100) == expected(0, 100));
    const std::string other(content().size(), 'o');
    write_text_file(nodes_.piece(0), other, "piece");

    EXPECT_TRUE(read(remote, 0, other.size()) == other);
    EXPECT_EQ(fallbacks(), 0u) << log_.text();
}

/* The rest is sent: more than one reader may have a file registered. */
TEST_F(Fabric, WhatIsNotLentIsSent)
{
    RemoteSource remote = source();

    for (int i = 0; i < 12; i++) {
        const std::string text(1000, static_cast<char>('a' + i)), name = std::to_string(i);
        write_text_file(nodes_.directory(0) / name, text, "file");
        std::string into(text.size(), 'x');
        remote.read(name, 0, std::as_writable_bytes(std::span(into)));
        EXPECT_EQ(into, text);
    }
    EXPECT_EQ(log_.count("no more than 8 files are lent"), 1u) << log_.text();
}

/* ---- Without a fabric ---------------------------------------------------------------- */

TEST_F(Fabric, OffIsTcp)
{
    FabricUse off{fabric::Choice()};
    RemoteSource remote(server_->address(), caller_identity, directory,
                        RemoteSource::usual_timeout, &off);

    EXPECT_TRUE(read(remote, 0, content().size()) == content());
    EXPECT_EQ(log_.count("read over"), 0u) << log_.text();
}

TEST_F(Fabric, AServerThatIsOffSaysSo)
{
    serve({});
    expect_fallback("fabrics are off on that node");
}

TEST_F(Fabric, AServerWithAnotherProviderSaysSo)
{
    serve(fabric::Choice::parse("udp"));
    expect_fallback("that node has udp;ofi_rxd, not tcp;ofi_rxm");
}

TEST_F(Fabric, AProviderThatIsNotThereIsToldOnce)
{
    FabricUse none(fabric::Choice::parse("nonesuch"));

    for (int i = 0; i < 2; i++) {
        RemoteSource remote(server_->address(), caller_identity, directory,
                            RemoteSource::usual_timeout, &none);
        EXPECT_TRUE(read(remote, 0, content().size()) == content());
    }
    EXPECT_EQ(log_.count("no provider 'nonesuch'"), 1u) << log_.text();
}

/* ---- Failures ------------------------------------------------------------------------ */

TEST_F(Fabric, NoEndpoint)
{
    const Fault fault("fabric-open");
    expect_fallback("no endpoint: fault");
}

TEST_F(Fabric, NoMemoryOfTheServer)
{
    const Fault fault("fabric-lend");
    expect_fallback("memory cannot be used: fault");
}

TEST_F(Fabric, AReadThatFailsInTheMiddle)
{
    const Fault fault("fabric-read:3");
    expect_fallback("memory of another node cannot be read: fault");
    EXPECT_EQ(log_.count("read over the fabric"), 0u) << log_.text();
}

/* The reader continues with the announced ranges where it was. */
TEST_F(Fabric, AReadThatFailsBetweenAnnouncedRanges)
{
    const Fault fault("fabric-read:4");
    RemoteSource remote = source();

    remote.announce(file(), 5, 2 * block_bytes);
    remote.announce(file(), 0, content().size());
    for (std::size_t at = 0; at < 2 * block_bytes; at += 1000) {
        const std::size_t size = std::min<std::size_t>(1000, 2 * block_bytes - at);
        ASSERT_TRUE(read(remote, 5 + at, size) == expected(5 + at, size)) << at;
    }
    EXPECT_TRUE(read(remote, 0, content().size()) == content());
    EXPECT_EQ(fallbacks(), 1u) << log_.text();
}

/* No thread drives the server's endpoint: the read never ends. */
TEST_F(Fabric, AServerThatDoesNothingIsNotWaitedForForEver)
{
    const Fault fault("fabric-still");
    expect_fallback("over the fabric");
}

TEST_F(Fabric, AServerThatHasGoneIsLost)
{
    RemoteSource remote = source(short_timeout);
    ASSERT_TRUE(read(remote, 0, 100) == expected(0, 100));
    server_.reset();

    EXPECT_NE(error_of([&] { (void)read(remote, 0, 100); }), "");
    EXPECT_EQ(fallbacks(), 0u) << log_.text();
}

TEST_F(Fabric, WhoWaitsCanBeCancelled)
{
    const Fault fault("fabric-still:1");
    RemoteSource remote = source(std::chrono::minutes(10));
    std::jthread canceller([&] { remote.cancel(); });
    const std::string error = error_of([&] { (void)read(remote, 0, content().size()); });

    EXPECT_NE(error.find("reading was cancelled"), error.npos) << error;
    EXPECT_EQ(fallbacks(), 0u) << log_.text();
}

/* ---- A man in the middle ------------------------------------------------------------- */

/* A relay on the TCP connection, on its own thread. */
class Relayed : public Fabric
{
  protected:
    Relayed()
        : relay_(loop_, server_->address().port), end_(::eventfd(0, EFD_CLOEXEC))
    {
        loop_.watch(end_.get(), EPOLLIN, [this](std::uint32_t) { is_ending_ = true; });
    }
    ~Relayed() override
    {
        if (thread_.joinable()) {
            (void)::eventfd_write(end_.get(), 1);
            thread_.join();
        }
    }

    /* change: applied to bytes from the server */
    void start(std::function<std::string(std::string)> change)
    {
        relay_.set_change([change](const std::string &bytes, bool to_listener) {
            return to_listener ? bytes : change(bytes);
        });
        thread_ = std::thread([this] {
            while (!is_ending_) {
                loop_.turn(steady_clock::now() + std::chrono::seconds(60));
            }
        });
    }
    RemoteSource relayed()
    {
        PeerAddress address = server_->address();
        address.port = relay_.port();
        address.hosts.resize(1); /* this node's name, for the handshake */
        address.hosts.push_back("127.0.0.1");
        return RemoteSource(address, caller_identity, directory,
                            RemoteSource::usual_timeout, &use_);
    }

    /* Whether the last tag of the file has come: the tags follow the answer. */
    static bool has_all_tags(const std::string &seen)
    {
        const auto lent = seen.find("\"lent\"");
        const auto size = lent == seen.npos ? lent : seen.find("\"size\":", lent);
        const auto end = size == seen.npos ? size : seen.find('}', size);
        return end != seen.npos && seen.size() >= end + 1 + 4 * BlockTags::size;
    }

    void expect_wrong_tag()
    {
        RemoteSource remote = relayed();
        const std::string error = error_of([&] { (void)read(remote, 0, content().size()); });
        EXPECT_NE(error.find("wrong tag"), error.npos) << error << log_.text();
        EXPECT_EQ(fallbacks(), 0u) << log_.text();
    }

    EventLoop loop_;
    test::TcpRelay relay_;
    Fd end_;
    bool is_ending_ = false;
    std::thread thread_;
};

/* The memory that the server registered changes after it has sent the tags of all blocks. The data
 * then differs from the tags, though it comes from the right place. */
TEST_F(Relayed, WhatIsNotWhatTheServerHasSaidIsNotTaken)
{
    start([&, seen = std::string()](std::string bytes) mutable {
        seen += bytes;
        if (has_all_tags(seen)) {
            const Fd fd(::open(nodes_.piece(0).c_str(), O_WRONLY | O_CLOEXEC));
            const char other = static_cast<char>(content().back() ^ 1);
            EXPECT_EQ(::pwrite(fd.get(), &other, 1, static_cast<off_t>(content().size() - 1)),
                      1);
        }
        return bytes;
    });
    expect_wrong_tag();
}

/* A man in the middle cannot change the tags, either. */
TEST_F(Relayed, TagsCannotBeChanged)
{
    start([&, seen = std::string()](std::string bytes) mutable {
        seen += bytes;
        if (has_all_tags(seen)) {
            bytes.back() = static_cast<char>(bytes.back() ^ 1);
        }
        return bytes;
    });
    expect_wrong_tag();
}

/* ---- Registered memory ---------------------------------------------------------------- */

/* Reads fail without the key that the server sent, and after the registration has ended. */
TEST_F(Fabric, OnlyWithTheKeyAndOnlyWhileItIsLent)
{
    const std::vector<std::byte> memory(8192, std::byte{7});
    fabric::Endpoint lender(wanted_, "127.0.0.1");
    auto loan = lender.lend(memory);
    const fabric::Lent lent = loan->lent();
    std::atomic<bool> is_to_end = false, is_over = false;
    std::jthread driver([&] {
        while (!is_over) {
            lender.progress();
            if (is_to_end) {
                loan.reset();
                is_to_end = false;
            }
        }
    });
    const auto read_with = [&](fabric::Lent what) {
        const std::atomic<bool> cancelled = false;
        std::vector<std::byte> into(4096);
        fabric::Endpoint reader(wanted_, "127.0.0.1");
        reader.read(what, 4096, into, std::chrono::seconds(5), cancelled);
        return into == std::vector<std::byte>(4096, std::byte{7});
    };

    EXPECT_TRUE(read_with(lent));
    fabric::Lent wrong = lent;
    wrong.key ^= 1;
    EXPECT_THROW((void)read_with(wrong), fabric::Failure);
    wrong = lent;
    wrong.address.pop_back();
    EXPECT_THROW((void)read_with(wrong), fabric::Failure);
    is_to_end = true;
    while (is_to_end) {
        std::this_thread::yield();
    }
    EXPECT_THROW((void)read_with(lent), fabric::Failure);
    is_over = true;
}

/* ---- Groups --------------------------------------------------------------------------- */

class Group : public testing::TestWithParam<unsigned>
{
};

TEST_P(Group, PiecesAreProtectedAndRebuiltOverAFabric)
{
    const auto wanted = fabric::Choice::parse(provider);
    try {
        fabric::Endpoint(wanted, "");
    } catch (const fabric::Failure &failure) {
        GTEST_SKIP() << failure.what();
    }
    const Log log;
    const MessageKey key = MessageKey::make();
    PieceGroup nodes(GetParam(), {3 * slice_bytes, 2 * slice_bytes + 100, 0, 7, 4096});
    RejectedFrames rejected;
    FabricUse use(wanted);
    std::vector<std::unique_ptr<BlockServer>> servers;
    std::vector<std::unique_ptr<RemoteSource>> remote;
    for (std::size_t i = 0; i < nodes.size(); i++) {
        servers.push_back(std::make_unique<BlockServer>(
            PeerIdentity{"launch", nodes.group.members[i].host, 1}, key, nodes.root(i), rejected,
            wanted));
    }
    const auto others_of = [&](std::size_t lost) {
        std::vector<BlockSource *> sources(nodes.size());
        remote.clear();
        for (std::size_t i = 0; i < nodes.size(); i++) {
            if (i != lost) {
                remote.push_back(std::make_unique<RemoteSource>(
                    servers[i]->address(), caller_identity, directory,
                    RemoteSource::usual_timeout, &use));
                sources[i] = remote.back().get();
            }
        }
        return sources;
    };

    for (std::size_t i = 0; i < nodes.size(); i++) {
        nodes.protect(i, others_of(i));
    }
    for (std::size_t i = 0; i < nodes.size(); i++) {
        EXPECT_TRUE(nodes.rebuilt_from(i, others_of(i)) == nodes.content(i)) << i;
    }
    EXPECT_EQ(log.count("read over the fabric"), 1u) << log.text();
    EXPECT_EQ(log.count("read over TCP"), 0u) << log.text();
    EXPECT_EQ(rejected.total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Losses, Group, testing::Values(1u, 2u));

} // namespace

} // namespace ckpt::redundancy
