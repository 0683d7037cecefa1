/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_pieces.cpp - a node's piece that is written rank by rank, on this node
 * and through another agent.
 */
#include "config.h"
#include "agent/coordinator_link.hpp"
#include "agent/listener.hpp"
#include "agent/local_node.hpp"
#include "agent/peer_listener.hpp"
#include "agent/remote_node.hpp"
#include "common/files.hpp"
#include "image/message_log.hpp"
#include "image/node_file_reader.hpp"
#include "tests/child_process.hpp"
#include "tests/logged_messages.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace fs = std::filesystem;

namespace
{

constexpr int rank_count = 3;
constexpr auto longest = std::chrono::seconds(20);

using Words = std::vector<std::string>;

/* What a node tells, in words. */
class Events : public NodeEvents
{
  public:
    void rank_here(Node &, int rank, int, pid_t) override
    {
        here.insert(rank);
    }
    void rank_said(int, const ckpt_message &) override {}
    void rank_finished(int) override {}
    void rank_gone(int rank) override
    {
        here.erase(rank);
    }
    void captured(int rank) override
    {
        told.push_back(fmt::format("{}", rank));
    }
    void written(const Piece &piece, std::uint64_t memory) override
    {
        told.push_back("written");
        last_piece = piece;
        last_memory = memory;
    }
    void failed(const std::string &reason) override
    {
        told.push_back("failed");
        last_reason = reason;
    }
    void undone(Node &) override
    {
        told.push_back("undone");
    }

    std::set<int> here;
    Words told; /* the number of a rank: it is captured */
    Piece last_piece;
    std::uint64_t last_memory = 0;
    std::string last_reason;
};

/* In the child: says HELLO to the agent; the connection lives with it. */
void join(const std::string &path, int rank)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    int page = memfd_create("page", MFD_CLOEXEC);
    std::size_t size = CKPT_RANK_PAGE_SIZE(rank_count);
    if (connect(socket, reinterpret_cast<sockaddr *>(&address),
                sizeof address) != 0 ||
        ftruncate(page, static_cast<off_t>(size)) != 0) {
        _exit(1);
    }
    auto *own = static_cast<ckpt_rank_page *>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0));
    own->magic = CKPT_PAGE_MAGIC;
    own->version = CKPT_WIRE_VERSION;
    own->rank = static_cast<std::uint32_t>(rank);
    own->rank_count = rank_count;

    ckpt_message hello{};
    hello.magic = CKPT_WIRE_MAGIC;
    hello.version = CKPT_WIRE_VERSION;
    hello.type = CKPT_MSG_HELLO;
    const auto pid = static_cast<std::uint64_t>(getpid());
    const std::uint64_t facts[] = {static_cast<std::uint64_t>(rank), rank_count,
                                   pid, pid, SIGRTMIN};
    std::ranges::copy(facts, hello.arg);
    iovec vector = {&hello, sizeof hello};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof page)] = {};
    msghdr header{};
    header.msg_iov = &vector;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr *part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof page);
    std::memcpy(CMSG_DATA(part), &page, sizeof page);
    if (sendmsg(socket, &header, 0) != sizeof hello) {
        _exit(1);
    }
}

enum class Where { here, elsewhere };

/* An agent's node with stopped ranks; a coordinator beside it or behind TCP. */
class Job
{
  public:
    using Prepare = std::function<void(Description &, int rank)>;

    explicit Job(Where where, const Prepare &prepare = {});
    ~Job();

    /* The coordinator's view. */
    Node &node()
    {
        return remote_ ? static_cast<Node &>(*remote_) : *local_;
    }
    std::uint64_t snapshot(int rank) const
    {
        return ranks_[rank]->snapshot();
    }
    void add(int rank)
    {
        node().add_to_piece(rank, snapshot(rank));
    }
    ChildProcess &rank(int rank)
    {
        return *ranks_[rank];
    }

    /* Lets the agents work until this holds. */
    void await(const std::function<bool()> &condition);
    void await(const std::string &word)
    {
        await([&] { return std::ranges::count(events.told, word) > 0; });
    }
    /* Until all that was asked for is done. */
    void settle();

    fs::path checkpoint() const
    {
        return scratch / "ckpt/job/000001";
    }
    fs::path log(int rank) const
    {
        return message_log_path(checkpoint(), rank);
    }
    void write_log(int rank, const std::string &bytes) const
    {
        std::ofstream(log(rank), std::ios::binary) << bytes;
    }
    /* Names in the directory of the checkpoint. */
    Words files() const;

    void lose_coordinator()
    {
        remote_.reset();
    }
    CoordinatorLink *link()
    {
        return link_.get();
    }
    WorkerThread &worker()
    {
        return worker_;
    }

    ScratchDirectory scratch;
    Events events;

  private:
    EventLoop loop_;
    WorkerThread worker_;
    Settings settings_;
    std::optional<LocalNode> local_;
    std::unique_ptr<Listener> listener_;
    std::unique_ptr<PeerListener> peers_;
    std::unique_ptr<CoordinatorLink> link_;
    std::unique_ptr<RemoteNode> remote_;
    std::vector<std::unique_ptr<ChildProcess>> ranks_;
};

Job::Job(Where where, const Prepare &prepare)
{
    settings_.host = "n1";
    settings_.launch_namespace = "space";
    local_.emplace(loop_, worker_, settings_,
                   LocalNode::Hooks{[](auto &) { return ""; }, [](auto &) {}});
    listener_ = std::make_unique<Listener>(
        loop_, scratch / "socket", SOCK_SEQPACKET,
        [this](Fd socket) { local_->accept(std::move(socket)); });
    loop_.watch(worker_.descriptor(), EPOLLIN,
                [this](std::uint32_t) { worker_.run_replies(); });
    /* Before there is a connection that they would keep open. */
    for (int rank = 0; rank < rank_count; rank++) {
        ranks_.push_back(std::make_unique<ChildProcess>([&](Description &own) {
            own.snapshot.rank = rank;
            own.snapshot.rank_count = rank_count;
            fill_random(own.map(mebibyte), static_cast<std::uint64_t>(rank));
            if (prepare) {
                prepare(own, rank);
            }
            join(scratch / "socket", rank);
        }));
    }
    if (where == Where::here) {
        local_->attach(&events);
    } else {
        peers_ = std::make_unique<PeerListener>(
            loop_, scratch / "address", "space",
            [this](std::unique_ptr<FrameStream> stream, const std::string &) {
                remote_ = std::make_unique<RemoteNode>(std::move(stream), "n1",
                                                       events, [] {});
            });
        link_ = std::make_unique<CoordinatorLink>(loop_, worker_, *local_,
                                                  settings_, peers_->address());
        await([this] { return remote_ != nullptr; });
    }
    await([this] { return events.here.size() == rank_count; });
}

Job::~Job()
{
    worker_.stop();
    remote_.reset();
    link_.reset();
    local_.reset();
}

void Job::await(const std::function<bool()> &condition)
{
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!condition()) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= end) {
            FAIL() << "told: " << fmt::format("{}", fmt::join(events.told, " "))
                   << " " << events.last_reason;
        }
        loop_.turn(now + std::chrono::milliseconds(20));
    }
}

/* Undone is told when all that was asked for before is over. */
void Job::settle()
{
    const auto before = std::ranges::count(events.told, "undone");
    node().undo();
    await([&] { return std::ranges::count(events.told, "undone") > before; });
}

Words Job::files() const
{
    Words names;
    for (const auto &entry : fs::directory_iterator(checkpoint())) {
        names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
}

class Pieces : public testing::TestWithParam<Where>
{
};

INSTANTIATE_TEST_SUITE_P(Node, Pieces,
                         testing::Values(Where::here, Where::elsewhere),
                         [](const auto &info) {
                             return info.param == Where::here ? "here"
                                                              : "elsewhere";
                         });

std::string saved_log(const NodeFileReader &reader, int rank)
{
    std::string log(reader.rank(rank).message_log.bytes, '\0');
    reader.read_message_log(rank, std::as_writable_bytes(std::span(log)));
    return log;
}

} // namespace

TEST_P(Pieces, AreWrittenRankByRank)
{
    Job job(GetParam());
    const Words names[] = {{"node-n1.h5.tmp"}, {"node-n1.h5"}};
    job.node().open_piece(job.checkpoint());
    job.await([&] { return fs::exists(job.checkpoint() / names[0][0]); });
    job.add(2);
    job.await("2");
    job.write_log(0, message_log(40)); /* a log may be written at any time */
    job.add(0);
    job.add(1);
    job.await("1");
    EXPECT_EQ(job.events.told, (Words{"2", "0", "1"}));
    job.write_log(2, "");
    EXPECT_EQ(job.files(),
              (Words{"node-n1.h5.tmp", "rank-0.log", "rank-2.log"}));
    job.node().close_piece({0, 1, 2});
    job.await("written");
    EXPECT_EQ(job.events.told, (Words{"2", "0", "1", "written"}));
    EXPECT_EQ(job.files(), names[1]);
    EXPECT_GT(job.events.last_memory, rank_count * mebibyte);
    EXPECT_FALSE(job.events.last_piece.shared);

    const Piece &piece = job.events.last_piece;
    EXPECT_EQ(piece.ranks, (std::vector<int>{0, 1, 2}));
    ReaderOptions options;
    options.checksum = piece.checksum;
    NodeFileReader reader(job.checkpoint() / piece.file, options);
    reader.verify();
    EXPECT_TRUE(saved_log(reader, 0) == message_log(40));
    EXPECT_EQ(saved_log(reader, 1), "");
    EXPECT_EQ(saved_log(reader, 2), "");
}

TEST(Piece, ItsDirectoryIsThereAtOnce)
{
    Job job(Where::here);
    job.node().open_piece(job.checkpoint());
    EXPECT_TRUE(fs::is_directory(job.checkpoint()));
    EXPECT_EQ(fs::status(job.checkpoint()).permissions(), fs::perms::owner_all);
}

TEST(Piece, TheWorkerIsFreeWhileOneWaitsForRanks)
{
    Job job(Where::here);
    job.node().open_piece(job.checkpoint());
    job.add(0);
    job.await("0");
    job.await([&] { return job.worker().idle(); });
    bool done = false;
    job.worker().run([&] { job.worker().reply([&] { done = true; }); });
    job.await([&] { return done; });
    EXPECT_EQ(job.files(), Words{"node-n1.h5.tmp"});
}

TEST_P(Pieces, OneThatCannotBeOpenedFails)
{
    Job job(GetParam());
    std::ofstream(job.scratch / "ckpt") << "a file";
    job.node().open_piece(job.checkpoint());
    EXPECT_EQ(job.events.told, Words{}); /* not before it returns */
    job.add(0);
    job.node().close_piece({0});
    job.await("failed");
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"failed", "undone"}));
    EXPECT_NE(job.events.last_reason.find(job.scratch / "ckpt"),
              std::string::npos)
        << job.events.last_reason;
}

TEST_P(Pieces, RanksThatShareMemoryAreRefused)
{
    Job job(GetParam(), [](Description &own, int rank) {
        if (rank > 0) {
            ckpt_file file{};
            file.kind = CKPT_FILE_MEMFD;
            file.inode = 77;
            file.same_as = -1;
            file.path = own.add_string("/memfd:ours");
            own.files = {file};
        }
    });
    job.node().open_piece(job.checkpoint());
    for (int rank = 0; rank < rank_count; rank++) {
        job.add(rank);
    }
    job.node().close_piece({0, 1, 2});
    job.await("failed");
    EXPECT_NE(job.events.last_reason.find(
                  "rank 2 shares memory with another rank of this node"),
              std::string::npos)
        << job.events.last_reason;
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"0", "1", "failed", "undone"}));
    EXPECT_EQ(job.files(), Words{});
}

TEST_P(Pieces, ADeadRankIsTold)
{
    for (bool is_noticed : {true, false}) {
        Job job(GetParam());
        job.node().open_piece(job.checkpoint());
        job.rank(1).kill();
        if (is_noticed) {
            job.await([&] { return !job.events.here.contains(1); });
        }
        job.add(1);
        job.await("failed");
        job.settle();
        EXPECT_EQ(job.events.told, (Words{"failed", "undone"}));
        EXPECT_EQ(job.files(), Words{});
    }
}

TEST_P(Pieces, ADamagedLogIsRefused)
{
    Job job(GetParam());
    job.node().open_piece(job.checkpoint());
    job.add(1);
    job.await("1");
    job.write_log(1, message_log(5) + "x");
    job.node().close_piece({1});
    job.await("failed");
    EXPECT_NE(job.events.last_reason.find(job.log(1)), std::string::npos)
        << job.events.last_reason;
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"1", "failed", "undone"}));
    EXPECT_EQ(job.files(), Words{});
}

TEST_P(Pieces, AFullDiskIsTold)
{
    Job job(GetParam());
    job.node().open_piece(job.checkpoint());
    job.add(0);
    job.await("0");
    job.await([&] { return job.worker().idle(); });
    job.write_log(0, message_log(100));
    const char *count = GetParam() == Where::here ? "1" : "01"; /* anew */
    ::setenv("CKPT_FAULT", fmt::format("image-write-enospc:{}", count).c_str(),
             1);
    job.node().close_piece({0});
    job.await("failed");
    ::unsetenv("CKPT_FAULT");
    EXPECT_NE(job.events.last_reason.find("no space left in "),
              std::string::npos)
        << job.events.last_reason;
    job.settle();
    EXPECT_EQ(job.files(), Words{});
}

/* Steps of a piece; it is undone after any number of them, whether they are
 * done by then or not. */
TEST_P(Pieces, AreUndoneAtAnyMoment)
{
    Job job(GetParam());
    const std::function<void()> steps[] = {
        [&] { job.node().open_piece(job.checkpoint()); },
        [&] { job.add(1); },
        [&] { job.write_log(1, message_log(60)); },
        [&] { job.add(0); },
        [&] { job.write_log(0, message_log(3)); },
        [&] {
            job.node().close_piece({0, 1});
        },
    };
    for (std::size_t count = 1; count < std::size(steps); count++) {
        for (bool in_time : {true, false}) {
            job.events.told.clear();
            for (std::size_t i = 0; i < count; i++) {
                steps[i]();
                if (i == 0) { /* ranks write when they know the directory */
                    job.await([&] { return fs::exists(job.checkpoint()); });
                }
            }
            if (!in_time) {
                for (const char *rank : {"1", "0"}) {
                    if (count > (*rank == '1' ? 1u : 3u)) {
                        job.await(rank);
                    }
                }
            }
            job.settle();
            EXPECT_EQ(job.events.told.back(), "undone");
            EXPECT_EQ(std::ranges::count(job.events.told, "failed"), 0);
            EXPECT_EQ(job.files(), Words{}) << count << in_time;
        }
    }
    job.events.told.clear();
    for (const auto &step : steps) {
        step();
    }
    job.await("written");
    job.settle();
    EXPECT_EQ(job.events.told, (Words{"1", "0", "written", "undone"}));
    EXPECT_EQ(job.files(), Words{"node-n1.h5"}); /* for the coordinator */
}

TEST_P(Pieces, NothingIsToldOfOneThatAnotherReplaces)
{
    Job job(GetParam());
    const fs::path other = job.checkpoint().parent_path() / "000002";
    job.node().open_piece(job.checkpoint());
    job.await([&] { return fs::exists(job.checkpoint()); });
    job.write_log(2, message_log(1));
    job.add(0);
    job.node().open_piece(other);
    job.add(1);
    job.node().close_piece({1});
    job.await("written");
    EXPECT_EQ(job.events.told, (Words{"1", "written"}));
    EXPECT_EQ(job.files(), Words{});
    NodeFileReader(other / "node-n1.h5").verify();
}

TEST(Piece, AnAgentThatEndsLeavesNothing)
{
    ScratchDirectory scratch;
    const fs::path directory = scratch / "piece";
    {
        Job job(Where::here);
        job.node().open_piece(directory);
        job.add(0);
        job.await("0");
        std::ofstream(message_log_path(directory, 1)) << message_log(1);
    }
    EXPECT_TRUE(fs::is_empty(directory));
}

TEST(Piece, ALostCoordinatorIsAnUndo)
{
    Job job(Where::elsewhere);
    job.node().open_piece(job.checkpoint());
    job.add(0);
    job.await("0");
    job.write_log(1, message_log(1));
    job.lose_coordinator();
    job.await([&] { return !job.link()->connected(); });
    job.await([&] { return job.worker().idle(); });
    EXPECT_EQ(job.files(), Words{});
}

/* An agent dies at a named place; the next one writes the piece anew. */
TEST(Piece, LeftoversOfADeadAgentAreReplaced)
{
    for (const char *fault : {"agent-during-cut:2", "agent-during-log:2"}) {
        ScratchDirectory scratch;
        const fs::path directory = scratch / "piece";
        auto write = [&](Job &job) {
            job.node().open_piece(directory);
            job.add(0);
            job.add(1);
            for (int rank : {0, 1}) {
                std::ofstream(message_log_path(directory, rank))
                    << message_log(20);
            }
            job.node().close_piece({0, 1});
            job.await("written");
        };
        int status = run_in_child([&] {
            ::setenv("CKPT_FAULT", fault, 1);
            Job job(Where::here);
            write(job);
        });
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        EXPECT_TRUE(fs::exists(directory / "node-n1.h5.tmp"));
        EXPECT_TRUE(fs::exists(message_log_path(directory, 1)));

        Job job(Where::here);
        write(job);
        NodeFileReader reader(directory / "node-n1.h5");
        reader.verify();
        EXPECT_EQ(reader.rank(1).message_log.messages, 20u);
    }
}
