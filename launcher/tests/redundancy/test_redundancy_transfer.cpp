/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_redundancy_transfer.cpp - nodes read one another's files: the data that they get, the
 * rejected to others, and the effects of a peer that misbehaves or disappears.
 */
#include "config.h"
#include "agent/blocks/block_connection.hpp"
#include "agent/blocks/block_request.hpp"
#include "agent/blocks/block_server.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/links/frame_seal.hpp"
#include "agent/links/handshake.hpp"
#include "agent/links/reach.hpp"
#include "agent/blocks/remote_source.hpp"
#include "redundancy/parity_file.hpp"
#include "tests/common/mutations.hpp"
#include "tests/redundancy/served_piece.hpp"
#include "tests/common/tcp_relay.hpp"

#include <gtest/gtest.h>
#include <sodium.h>
#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>

namespace ckpt::redundancy
{

namespace
{

namespace fs = std::filesystem;
using nlohmann::json;
using test::error_of;
using test::for_rounds;
using test::Mutations;
using test::PieceGroup;
using std::chrono::steady_clock;

const std::string directory = test::group_job + "/" + test::group_number;
const PeerIdentity server_identity = {"launch", "n0", 1}, caller_identity = {"launch", "n1", 1};

class Transfer : public test::ServedPiece
{
  protected:
    Transfer()
    {
        spdlog::set_level(spdlog::level::off);
        serve();
    }

    void serve()
    {
        server_.emplace(server_identity, MessageKey::make(), nodes_.root(0), rejected_);
    }

    RemoteSource source(std::chrono::milliseconds timeout = RemoteSource::usual_timeout)
    {
        return RemoteSource(server_->address(), caller_identity, directory, timeout);
    }

    void await(const std::function<bool()> &condition)
    {
        const auto end = steady_clock::now() + std::chrono::seconds(20);
        while (!condition() && steady_clock::now() < end) {
            std::this_thread::yield();
        }
        EXPECT_TRUE(condition());
    }
};

/* ---- Tags -------------------------------------------------------------------------- */

/* The definition in docs/levels.md, by another library than the code's. */
BlockTags::Tag tag_by_hand(const MessageKey &key, std::uint64_t number,
                           std::span<const std::byte> block)
{
    const MessageKey::Tag once = key.tag({std::as_bytes(std::span(&number, 1))});
    BlockTags::Tag tag;

    crypto_onetimeauth_poly1305(
        tag.data(), reinterpret_cast<const unsigned char *>(block.data()), block.size(),
        reinterpret_cast<const unsigned char *>(once.data()));
    return tag;
}

TEST(BlockTags, AreThoseOfAnotherLibrary)
{
    const MessageKey key = MessageKey::make();
    BlockTags sender(key), receiver(key);
    std::vector<std::byte> bytes(block_bytes);
    std::uint64_t number = 0;

    test::fill_random(bytes, 1);
    for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{15}, std::size_t{16},
                             std::size_t{4097}, block_bytes - 1, block_bytes}) {
        const auto block = std::span(bytes).first(size);
        const BlockTags::Tag tag = sender.next(block);
        EXPECT_EQ(tag, tag_by_hand(key, number++, block)) << size;
        EXPECT_TRUE(receiver.is_next(block, tag)) << size;
    }
}

TEST(BlockTags, ABlockIsWorthNothingElsewhere)
{
    const MessageKey key = MessageKey::make();
    std::vector<std::byte> block(block_bytes);
    const BlockTags::Tag first = BlockTags(key).next(block);

    EXPECT_FALSE(BlockTags(MessageKey::make()).is_next(block, first));
    BlockTags later(key);
    EXPECT_TRUE(later.is_next(block, first));
    EXPECT_FALSE(later.is_next(block, first));
    for (std::size_t at : {std::size_t{0}, block_bytes / 2, block_bytes - 1}) {
        block[at] ^= std::byte{1};
        EXPECT_FALSE(BlockTags(key).is_next(block, first)) << at;
        block[at] ^= std::byte{1};
    }
    BlockTags::Tag wrong = first;
    wrong.back() ^= 1;
    EXPECT_FALSE(BlockTags(key).is_next(block, wrong));
}

/* ---- Reads ------------------------------------------------------------------------- */

TEST_F(Transfer, GivesWhatTheFileHas)
{
    RemoteSource remote = source();

    EXPECT_EQ(remote.size(file()), content().size());
    for (std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{block_bytes},
                                 std::uint64_t{2 * block_bytes - 1},
                                 std::uint64_t{content().size() - 1},
                                 std::uint64_t{content().size()},
                                 std::uint64_t{content().size() + 1}, std::uint64_t{1} << 62}) {
        for (std::size_t bytes :
             {std::size_t{0}, std::size_t{1}, block_bytes - 1, block_bytes, block_bytes + 1,
              2 * block_bytes, content().size(), content().size() + 4096}) {
            ASSERT_TRUE(read(remote, offset, bytes) == expected(offset, bytes))
                << bytes << " at " << offset;
        }
    }
    EXPECT_EQ(rejected_.total(), 0u);
}

TEST_F(Transfer, AnnouncedRangesAreReadInPartsOfAnySize)
{
    for (std::size_t part : {std::size_t{1000}, block_bytes, block_bytes + 1, slice_bytes}) {
        RemoteSource remote = source();
        const Range ranges[] = {
            {0, content().size()}, {77, block_bytes}, {block_bytes, 4 * block_bytes}, {5, 0}};
        ASSERT_NO_FATAL_FAILURE(expect_announced(remote, ranges, part));
        EXPECT_EQ(remote.size(file()), content().size());
    }
}

/* A reader that reads other ranges than it announced would confuse blocks. */
TEST_F(Transfer, SomethingElseThanAnnouncedIsNotRead)
{
    RemoteSource remote = source();

    remote.announce(file(), 0, 2000);
    EXPECT_NE(error_of([&] { (void)remote.size(file()); }), "");
    EXPECT_NE(error_of([&] { (void)read(remote, 1, 100); }), "");
    EXPECT_TRUE(read(remote, 0, 100) == expected(0, 100));
    EXPECT_NE(error_of([&] { (void)read(remote, 0, 100); }), "");
    EXPECT_TRUE(read(remote, 100, 1900) == expected(100, 1900));
}

TEST_F(Transfer, SeveralNodesReadAtOnce)
{
    std::vector<std::jthread> readers;
    std::atomic<int> right = 0;

    for (int i = 0; i < 8; i++) {
        readers.emplace_back([&, i] {
            RemoteSource remote = source();
            for (std::uint64_t round = 0; round < 20; round++) {
                const std::uint64_t offset = 1000u * (static_cast<unsigned>(i) + round);
                right += read(remote, offset, content().size()) ==
                         expected(offset, content().size());
            }
        });
    }
    readers.clear();
    EXPECT_EQ(right, 8 * 20);
    EXPECT_EQ(rejected_.total(), 0u);
}

/* ---- RejectedFrames -------------------------------------------------------------------------- */

TEST_F(Transfer, AFileThatIsNotThereDoesNotEndTheConversation)
{
    RemoteSource remote = source();
    std::string bytes(10, 'x');

    EXPECT_NE(error_of([&] { (void)remote.size("no-such-file"); })
                  .find("no-such-file of"),
              std::string::npos);
    remote.announce("no-such-file", 0, 10);
    EXPECT_NE(error_of([&] {
                  remote.read("no-such-file", 0, std::as_writable_bytes(std::span(bytes)));
              }),
              "");
    EXPECT_TRUE(read(remote, 0, 100) == expected(0, 100));
}

TEST_F(Transfer, NoPathLeadsElsewhere)
{
    const fs::path here = nodes_.directory(0);
    fs::create_symlink(here / file(), here / "link");
    fs::create_directory(here / "directory");
    ASSERT_EQ(mkfifo((here / "fifo").c_str(), 0600), 0);
    fs::create_directory_symlink(here, here.parent_path() / "000002");
    fs::create_directory_symlink(here.parent_path(), nodes_.root(0) / "other");
    write_text_file(nodes_.root(0) / "secret", "", "file");
    write_text_file(here.parent_path() / "job.json", "", "file");

    const auto is_given = [&](const std::string &in, const std::string &name) {
        RemoteSource remote(server_->address(), caller_identity, in);
        return error_of([&] { (void)remote.size(name); }).empty();
    };
    EXPECT_TRUE(is_given(directory, file()));
    for (const char *name :
         {"", ".", "..", "link", "directory", "fifo", "/", "../job.json", "directory/../",
          "../../secret", "../000001/node-n0.h5", "/etc/passwd", "directory/x", "x\ny"}) {
        EXPECT_FALSE(is_given(directory, name)) << name;
    }
    EXPECT_FALSE(is_given(directory, file() + std::string(1, '\0')));
    EXPECT_FALSE(is_given(directory, file() + "/"));
    for (const char *in : {"job/000002", "other/000001", "", ".", "job", "job/000001/.",
                           "job/./000001", "/job/000001", "job//000001", "job/../job/000001",
                           "job/000003", "../0/job/000001"}) {
        EXPECT_FALSE(is_given(in, file())) << in;
    }
    EXPECT_EQ(rejected_.total(), 0u);
}

TEST_F(Transfer, WhatBelongsToSomebodyElseIsNotGiven)
{
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can give a file away";
    }
    ASSERT_EQ(::chown(nodes_.piece(0).c_str(), 12345, 12345), 0);
    RemoteSource remote = source();
    const std::string error = error_of([&] { (void)remote.size(file()); });
    EXPECT_NE(error.find("belongs to uid 12345"), error.npos) << error;
}

/* ---- Strangers ---------------------------------------------------------------------- */

TEST_F(Transfer, WhoDoesNotHaveTheKeyGetsNothing)
{
    PeerAddress address = server_->address();
    address.key = MessageKey::make();

    EXPECT_NE(error_of([&] { RemoteSource(address, caller_identity, directory); }), "");
    await([&] { return rejected_.of(Rejection::forged) >= 1; });
    RemoteSource remote = source();
    EXPECT_TRUE(read(remote, 0, 10) == expected(0, 10));
}

TEST_F(Transfer, AnotherLaunchOrIncarnationIsRefusedAndHearsWhy)
{
    PeerIdentity late = caller_identity;
    late.incarnation = 2;

    const std::string error =
        error_of([&] { RemoteSource(server_->address(), late, directory); });
    EXPECT_NE(error.find("incarnation 2, not 1"), error.npos) << error;
    EXPECT_GE(rejected_.of(Rejection::foreign), 1u);
}

/* Opening can take longer than the time that a stranger has to identify itself. */
TEST_F(Transfer, OpensAFabricWhenTheServerKnowsWhoAsks)
{
    int opened = 0;
    auto connect = [&](const PeerIdentity &identity) {
        BlockConnection(reach(server_->address(), 0).socket, server_->address(),
                        identity, RemoteSource::usual_timeout, [&] {
                            opened++;
                            return std::unique_ptr<fabric::Endpoint>();
                        });
    };
    EXPECT_THROW(connect({"another launch", "n1", 1}), Error);
    EXPECT_EQ(0, opened);
    connect(caller_identity);
    EXPECT_EQ(1, opened);
}

/* Sends messages by hand, which a RemoteSource would not send. */
class Caller
{
  public:
    explicit Caller(const PeerAddress &address, const std::string &purpose = block_purpose)
        : socket_(test::connect_to_loopback(address.port)), reader_(1u << 20)
    {
        CallerHandshake handshake(address, caller_identity, purpose);
        send(handshake.call(frame().value()));
        keys_ = handshake.accept(frame().value());
        outgoing_.emplace(keys_.from_caller);
        incoming_.emplace(keys_.from_listener);
    }

    void send(const std::string &bytes)
    {
        (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    std::string sealed(const json &request) { return outgoing_->seal(request.dump()); }
    void end() { ::shutdown(socket_.get(), SHUT_WR); }

    /* Returns the answer to a request for no bytes; nothing at the end of the connection. */
    std::optional<json> answer()
    {
        auto answer = frame();
        if (!answer) {
            return {};
        }
        incoming_->check(*answer);
        return json::parse(answer->payload);
    }
    /* Reads until the end of the connection. */
    void drain()
    {
        char bytes[4096];
        while (::recv(socket_.get(), bytes, sizeof bytes, 0) > 0) {
        }
    }

  private:
    std::optional<Frame> frame()
    {
        char bytes[4096];
        std::optional<Frame> next;
        while (!(next = reader_.next())) {
            const ssize_t size = ::recv(socket_.get(), bytes, sizeof bytes, 0);
            if (size <= 0) {
                return {};
            }
            reader_.add({bytes, static_cast<std::size_t>(size)});
        }
        return next;
    }

    Fd socket_;
    FrameReader reader_;
    SessionKeys keys_;
    std::optional<FrameSeal> outgoing_, incoming_;
};

json request(const std::string &path, std::uint64_t bytes = 0)
{
    return BlockRequest{path, 0, bytes, ""};
}

TEST_F(Transfer, WhoWantsSomethingElseIsRefused)
{
    Caller caller(server_->address(), "agent");

    caller.drain();
    EXPECT_EQ(rejected_.counts(), (RejectedFrames::Counts{{"foreign", 1}}));
}

TEST_F(Transfer, WhatIsNoRequestEndsTheConnection)
{
    const std::string path = directory + "/" + file();
    const auto ends = [&](auto say, Rejection why) {
        const auto before = rejected_.of(why);
        Caller caller(server_->address());
        say(caller);
        caller.end();
        caller.drain();
        return rejected_.of(why) == before + 1;
    };

    EXPECT_TRUE(ends([&](Caller &caller) { caller.send("GET / HTTP/1.1\r\n\r\n"); },
                     Rejection::malformed));
    EXPECT_TRUE(ends(
        [&](Caller &caller) {
            const std::string good = caller.sealed(request(path));
            caller.send(good.substr(0, good.size() - 1));
        },
        Rejection::malformed));
    EXPECT_TRUE(ends(
        [&](Caller &caller) {
            std::string bad = caller.sealed(request(path));
            bad.back() = ' ';
            caller.send(bad);
        },
        Rejection::forged));
    EXPECT_TRUE(ends(
        [&](Caller &caller) {
            const std::string good = caller.sealed(request(path));
            caller.send(good + good);
        },
        Rejection::replayed));
    EXPECT_TRUE(ends(
        [&](Caller &caller) {
            (void)caller.sealed(request(path));
            caller.send(caller.sealed(request(path)));
        },
        Rejection::replayed));
    EXPECT_TRUE(ends(
        [&](Caller &caller) {
            caller.send(caller.sealed(request(std::string(5000, 'x'))));
        },
        Rejection::malformed));
    for (const json &bad :
         {json(), json(3), json::array(), json::object(), json{{"path", path}},
          json{{"path", path}, {"offset", -1}, {"bytes", 0}},
          json{{"path", path}, {"offset", 0}, {"bytes", 1.5}},
          json{{"path", 7}, {"offset", 0u}, {"bytes", 0u}}}) {
        EXPECT_TRUE(ends([&](Caller &caller) { caller.send(caller.sealed(bad)); },
                         Rejection::malformed))
            << bad;
    }
    EXPECT_TRUE(ends(
        [&](Caller &caller) {
            std::string many;
            for (int i = 0; i < 1000; i++) { /* the caller reads none */
                many += caller.sealed(request(path, 100 * block_bytes));
            }
            caller.send(many);
        },
        Rejection::malformed));
}

/* The answers of one connection are invalid on another. */
TEST_F(Transfer, RequestsOfAnotherConnectionAreForged)
{
    Caller one(server_->address()), other(server_->address());

    other.send(one.sealed(request(directory + "/" + file())));
    EXPECT_FALSE(other.answer());
    EXPECT_EQ(rejected_.counts(), (RejectedFrames::Counts{{"forged", 1}}));
}

TEST_F(Transfer, AnyRequestIsAnsweredOrEndsItsConnection)
{
    for_rounds(300, [&](Mutations &mutations) {
        Caller caller(server_->address());
        const json good = request(directory + "/" + file());
        if (mutations.one_in(2)) {
            caller.send(caller.sealed(mutations.json(good)));
        } else {
            caller.send(mutations.bytes(caller.sealed(good)));
        }
        caller.end();
        (void)error_of([&] { (void)caller.answer(); });
    });
    RemoteSource remote = source();
    EXPECT_TRUE(read(remote, 0, 100) == expected(0, 100));
}

/* ---- A man in the middle ------------------------------------------------------------- */

/* A relay on its own thread. */
class Relayed : public Transfer
{
  protected:
    Relayed()
        : relay_(loop_, server_->address().port), end_(::eventfd(0, EFD_CLOEXEC))
    {
        loop_.watch(end_.get(), EPOLLIN, [this](std::uint32_t) { is_ending_ = true; });
    }
    ~Relayed() override { stop(); }

    /* change: applied to bytes from the server after the first `after` bytes */
    void start(std::size_t after, std::function<std::string(std::string)> change)
    {
        relay_.set_change([this, after, change](const std::string &bytes, bool to_listener) {
            if (to_listener) {
                return bytes;
            }
            passed_ += bytes.size();
            return passed_ > after ? change(bytes) : bytes;
        });
        thread_ = std::thread([this] {
            while (!is_ending_) {
                loop_.turn(steady_clock::now() + std::chrono::seconds(60));
            }
        });
    }
    void stop()
    {
        if (thread_.joinable()) {
            (void)::eventfd_write(end_.get(), 1);
            thread_.join();
        }
    }

    RemoteSource relayed(std::chrono::milliseconds timeout = RemoteSource::usual_timeout)
    {
        PeerAddress address = server_->address();
        address.port = relay_.port();
        address.hosts.resize(1); /* this node's name, for the handshake */
        address.hosts.push_back("127.0.0.1");
        return RemoteSource(address, caller_identity, directory, timeout);
    }

    EventLoop loop_;
    test::TcpRelay relay_;
    Fd end_;
    std::size_t passed_ = 0;
    bool is_ending_ = false;
    std::thread thread_;
};

TEST_F(Relayed, ABitOfABlockCannotBeChanged)
{
    start(block_bytes, [is_done = false](std::string bytes) mutable {
        if (!std::exchange(is_done, true)) {
            bytes.back() = static_cast<char>(bytes.back() ^ 1);
        }
        return bytes;
    });
    RemoteSource remote = relayed();
    const std::string error =
        error_of([&] { (void)read(remote, 0, content().size()); });
    EXPECT_NE(error.find("wrong tag"), error.npos) << error;
}

TEST_F(Relayed, WhatIsCutOffIsNotTaken)
{
    start(2 * block_bytes, [](const std::string &) { return std::string(); });
    RemoteSource remote = relayed();
    const std::string error =
        error_of([&] { (void)read(remote, 0, content().size()); });
    EXPECT_NE(error.find("the connection has ended"), error.npos) << error;
}

/* The relay takes bytes and then sleeps, like a frozen node. */
TEST_F(Relayed, NothingIsWaitedForForEver)
{
    std::promise<void> may_go;
    start(2 * block_bytes, [&, future = may_go.get_future().share()](std::string bytes) {
        future.wait();
        return bytes;
    });
    {
        RemoteSource remote = relayed(std::chrono::milliseconds(100));
        const std::string error =
            error_of([&] { (void)read(remote, 0, content().size()); });
        EXPECT_NE(error.find("nothing comes"), error.npos) << error;
    }
    may_go.set_value();
}

TEST_F(Relayed, WhoWaitsCanBeCancelled)
{
    std::promise<void> may_go, is_held;
    start(2 * block_bytes,
          [&, is_told = false, future = may_go.get_future().share()](std::string bytes) mutable {
              if (!std::exchange(is_told, true)) {
                  is_held.set_value();
              }
              future.wait();
              return bytes;
          });
    {
        RemoteSource remote = relayed(std::chrono::minutes(10));
        std::jthread canceller([&] {
            is_held.get_future().wait();
            remote.cancel();
        });
        const std::string error =
            error_of([&] { (void)read(remote, 0, content().size()); });
        EXPECT_NE(error.find("reading was cancelled"), error.npos) << error;
    }
    may_go.set_value();
}

TEST_F(Transfer, AServerThatIsNotThereIsTold)
{
    const PeerAddress address = server_->address();

    server_.reset();
    const std::string error =
        error_of([&] { RemoteSource(address, caller_identity, directory); });
    EXPECT_NE(error.find("it cannot be reached"), error.npos) << error;
}

/* ---- Groups -------------------------------------------------------------------------- */

/* A server for each node. */
class Cluster
{
  public:
    Cluster(unsigned losses, const std::vector<std::uint64_t> &sizes)
        : nodes(losses, sizes)
    {
        const MessageKey key = MessageKey::make();
        for (std::size_t i = 0; i < sizes.size(); i++) {
            servers.push_back(std::make_unique<BlockServer>(
                PeerIdentity{"launch", nodes.group.members[i].host, 1}, key, nodes.root(i),
                rejected));
        }
    }

    std::vector<BlockSource *> sources(const std::set<std::size_t> &lost)
    {
        std::vector<BlockSource *> all(nodes.size());
        remote_.clear();
        for (std::size_t i = 0; i < nodes.size(); i++) {
            if (!lost.contains(i)) {
                remote_.push_back(std::make_unique<RemoteSource>(
                    servers[i]->address(), caller_identity, directory));
                all[i] = remote_.back().get();
            }
        }
        return all;
    }

    RejectedFrames rejected;
    PieceGroup nodes;
    std::vector<std::unique_ptr<BlockServer>> servers;

  private:
    std::vector<std::unique_ptr<RemoteSource>> remote_;
};

class OverTcp : public testing::TestWithParam<unsigned>
{
};

TEST_P(OverTcp, PiecesAreProtectedAndRebuilt)
{
    Cluster cluster(GetParam(), {5 * slice_bytes, 3 * slice_bytes + 100, 0, 7, 4096});

    for (std::size_t i = 0; i < cluster.nodes.size(); i++) {
        cluster.nodes.protect(i, cluster.sources({i}));
    }
    for (std::size_t i = 0; i < cluster.nodes.size(); i++) {
        EXPECT_TRUE(cluster.nodes.rebuilt_from(i, cluster.sources({i})) ==
                    cluster.nodes.content(i))
            << i;
    }
    EXPECT_EQ(cluster.rejected.total(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Losses, OverTcp, testing::Values(1u, 2u, 3u));

/* A server that disappears while it is read. */
class DyingServer : public BlockSource
{
  public:
    DyingServer(BlockSource &source, std::unique_ptr<BlockServer> &server, int reads)
        : source_(source), server_(server), reads_(reads)
    {
    }

    std::uint64_t size(const std::string &file) override { return source_.size(file); }
    void announce(const std::string &file, std::uint64_t offset, std::uint64_t bytes) override
    {
        source_.announce(file, offset, bytes);
    }
    void read(const std::string &file, std::uint64_t offset,
              std::span<std::byte> into) override
    {
        if (reads_-- == 0) {
            server_.reset();
        }
        source_.read(file, offset, into);
    }

  private:
    BlockSource &source_;
    std::unique_ptr<BlockServer> &server_;
    int reads_;
};

TEST(Cluster, ANodeThatIsLostWhileAnotherIsRebuiltIsOneMore)
{
    constexpr std::uint64_t bytes = 40 * slice_bytes; /* more than sockets hold */
    for (unsigned losses : {1u, 2u}) {
        Cluster cluster(losses, std::vector<std::uint64_t>(3, bytes));
        cluster.nodes.protect();
        auto sources = cluster.sources({0});
        DyingServer dying(*sources[1], cluster.servers[1], 5);
        sources[1] = &dying;
        std::string rebuilt;
        const std::string error =
            error_of([&] { rebuilt = cluster.nodes.rebuilt_from(0, sources); });
        if (losses == 1) {
            EXPECT_NE(error.find("cannot be rebuilt"), error.npos) << error;
        } else {
            EXPECT_EQ(error, "");
            EXPECT_TRUE(rebuilt == cluster.nodes.content(0));
        }
    }
}

TEST(Cluster, ANodeThatIsLostWhileItsPieceIsProtectedIsTold)
{
    Cluster cluster(1, std::vector<std::uint64_t>(3, 40 * slice_bytes));
    auto sources = cluster.sources({0});
    DyingServer dying(*sources[1], cluster.servers[1], 5);
    sources[1] = &dying;

    const std::string error = error_of([&] { cluster.nodes.protect(0, sources); });
    EXPECT_NE(error.find("the connection has ended"), error.npos) << error;
    EXPECT_FALSE(path_exists(cluster.nodes.parity(0)));
}

} // namespace

} // namespace ckpt::redundancy
