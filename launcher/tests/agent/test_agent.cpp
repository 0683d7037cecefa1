/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_agent.cpp - the real ckptd, with ranks that are processes.
 */
#include "config.h"
#include "agent/links/handshake.hpp"
#include "agent/messages/launch_facts.hpp"
#include "agent/base/listener.hpp"
#include "agent/control/metrics_file.hpp"
#include "agent/links/peer_address.hpp"
#include "common/files/files.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/store/store.hpp"
#include "tests/agent/fake_job.hpp"
#include "tests/agent/fake_rank.hpp"

#include "ckpt/wire.h"

#include <gtest/gtest.h>

#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace ckpt
{

namespace fs = std::filesystem;
using test::Client;
using test::FakeJob;
using test::FakeRankState;

namespace
{

control::Request checkpoint_request()
{
    control::Request request;
    request.command = "checkpoint";
    return request;
}

/* Returns a rank's state at both ends of its memory, from the image. */
FakeRankState saved_state(const Checkpoint &checkpoint, int rank,
                          std::size_t size = test::mebibyte)
{
    const Piece &piece = checkpoint.manifest->piece_of(rank);
    NodeFileReader reader(checkpoint.directory / piece.file);
    const RankImage &image = reader.rank(rank);
    FakeRankState state{};

    for (std::size_t i = 0; i < image.regions.size(); i++) {
        const ckpt_region &region = image.regions[i];
        std::vector<std::byte> bytes(region.end - region.start);
        if (bytes.size() == size) {
            reader.read_region(rank, i, bytes);
            std::memcpy(&state, bytes.data(), sizeof state);
            EXPECT_EQ(std::memcmp(&state, &bytes.back() + 1 - sizeof state,
                                  sizeof state),
                      0);
        }
    }
    return state;
}

/* All ranks have left the same collectives and received all sent messages. */
void expect_consistent(const Checkpoint &checkpoint, int count,
                       std::size_t size = test::mebibyte)
{
    std::uint64_t left = saved_state(checkpoint, 0, size).collectives;

    for (int rank = 0; rank < count; rank++) {
        FakeRankState state = saved_state(checkpoint, rank, size);
        EXPECT_EQ(state.rank, static_cast<std::uint64_t>(rank));
        EXPECT_EQ(state.collectives, left) << "rank " << rank;
        EXPECT_EQ(state.received,
                  test::fake_messages((rank + count - 1) % count));
    }
}

} // namespace

TEST(Agent, CommitsConsistentCheckpointsAndKeepsTwo)
{
    FakeJob job;
    job.start(3);
    for (std::uint64_t number = 1; number <= 3; number++) {
        control::Reply reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "result") << reply.error;
        EXPECT_EQ(reply.result.name, fmt::format("fake/{}", number));
        EXPECT_EQ(reply.result.number, number);
        EXPECT_EQ(reply.result.rank_count, 3);
        EXPECT_GT(reply.result.bytes, 3 * test::mebibyte);
        EXPECT_GT(reply.result.timings.total, 0);
        EXPECT_LE(reply.result.timings.stop, reply.result.timings.total);
        for (int rank = 0; rank < 3; rank++) {
            EXPECT_EQ(job.rank(rank).line("captured"), "captured");
        }
    }
    control::Status status = job.ask("status").status;
    EXPECT_EQ(status.phase, "running");
    EXPECT_EQ(status.committed, 3u);
    EXPECT_TRUE(status.coordinator);
    EXPECT_EQ(status.last.number, 3u);
    EXPECT_EQ(status.ranks.size(), 3u);

    Store store(job.directory());
    job.end(); /* the last garbage is collected by then */
    auto checkpoints = store.checkpoints("fake");
    ASSERT_EQ(checkpoints.size(), 2u);
    for (const Checkpoint &checkpoint : checkpoints) {
        ASSERT_EQ(checkpoint.state, Checkpoint::State::committed)
            << checkpoint.reason;
        expect_consistent(checkpoint, 3);
        EXPECT_EQ(checkpoint.manifest->launch.application[0],
                  "tests/fake_rank");
        EXPECT_EQ(checkpoint.manifest->launch.environment.at("CKPT_NAME"),
                  "fake");
    }
    EXPECT_EQ(checkpoints[1].number, 3u);
}

TEST(Agent, EndsWithItsRanksAndLeavesNothing)
{
    FakeJob job;
    job.start(2);
    fs::path socket = job.control_socket();
    struct stat status;
    ASSERT_EQ(stat(socket.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0u);
    Store store(job.directory());
    EXPECT_EQ(store.job_state("fake")->state, "running");
    EXPECT_TRUE(store.is_live("fake"));
    job.rank(0).write_line("finalize");
    job.rank(1).write_line("finalize");
    job.end();
    EXPECT_EQ(store.job_state("fake")->state, "ended");
    EXPECT_FALSE(store.is_live("fake"));
    EXPECT_FALSE(fs::exists(socket));
    EXPECT_FALSE(fs::exists(socket.replace_extension(".sock")));
    EXPECT_FALSE(fs::exists(socket.replace_extension(".lock")));
}

TEST(Agent, RemembersThatRanksWentBeforeTheyFinished)
{
    FakeJob job;
    job.start(2);
    job.rank(0).write_line("finalize");
    job.end();
    EXPECT_EQ(Store(job.directory()).job_state("fake")->state, "failed");
}

TEST(Agent, TwoRequestsAtOnceBothGetACheckpoint)
{
    FakeJob job;
    job.start(2, 0, 8);
    Client first(job.control_socket(), checkpoint_request());
    Client second(job.control_socket(), checkpoint_request());
    control::Reply one = first.last(), two = second.last();
    ASSERT_EQ(one.event, "result") << one.error;
    ASSERT_EQ(two.event, "result") << two.error;
    Store store(job.directory());
    EXPECT_NO_THROW(store.resolve(one.result.name));
    EXPECT_NO_THROW(store.resolve(two.result.name));
}

TEST(Agent, ARequestDuringTheWriteIsQueued)
{
    FakeJob job;
    job.set("CKPT_CODEC", "zstd:19"); /* slow */
    job.start(2, 0, 4);
    Client first(job.control_socket(), checkpoint_request());
    while (auto reply = first.next()) {
        if (reply->event != "progress" || reply->progress.phase == "write") {
            ASSERT_EQ(reply->event, "progress") << reply->error;
            break;
        }
    }
    Client second(job.control_socket(), checkpoint_request());
    EXPECT_EQ(second.next()->progress.phase, "queued");
    control::Reply one = first.last(), two = second.last();
    ASSERT_EQ(one.event, "result") << one.error;
    ASSERT_EQ(two.event, "result") << two.error;
    EXPECT_EQ(two.result.number, one.result.number + 1);
}

TEST(Agent, AFullDiskFailsTheCheckpointOnly)
{
    FakeJob job;
    job.set("CKPT_FAULT", "image-write-enospc:2");
    job.start(2);
    control::Reply reply = job.ask("checkpoint");
    ASSERT_EQ(reply.event, "error");
    EXPECT_EQ(reply.refusal, "no-space") << reply.error;
    Store store(job.directory());
    EXPECT_TRUE(store.checkpoints("fake").empty());

    reply = job.ask("checkpoint");
    ASSERT_EQ(reply.event, "result") << reply.error;
    job.end();
    expect_consistent(store.resolve("fake"), 2);
}

class SnapshotMethods : public testing::TestWithParam<const char *>
{
};

/* The ranks write all the time, also while a slow codec works. */
TEST_P(SnapshotMethods, SaveWhatRanksWereWhenTheyStoodStill)
{
    constexpr int mebibytes = 8;
    FakeJob job;
    job.set("CKPT_SNAPSHOT", GetParam());
    job.set("CKPT_CODEC", "zstd:12");
    job.start(3, 0, mebibytes);
    for (int i = 0; i < 2; i++) {
        control::Reply reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "result") << reply.error;
    }
    Store store(job.directory());
    job.end();
    for (const Checkpoint &checkpoint : store.checkpoints("fake")) {
        ASSERT_EQ(checkpoint.state, Checkpoint::State::committed);
        expect_consistent(checkpoint, 3, mebibytes * test::mebibyte);
    }
}

INSTANTIATE_TEST_SUITE_P(All, SnapshotMethods,
                         testing::Values("stop", "memory", "cow", "auto"));

TEST(Agent, TracesEachCheckpoint)
{
    FakeJob job;
    job.start_on_two_nodes(4);
    job.await_phase("running"); /* also at the other agent */
    ASSERT_TRUE(job.saves());
    ASSERT_TRUE(job.saves());
    Store store(job.directory());
    job.end();
    for (const Checkpoint &checkpoint : store.checkpoints("fake")) {
        CheckpointTrace trace = CheckpointTrace::load(checkpoint.directory);
        EXPECT_EQ(trace.number, checkpoint.number);
        EXPECT_EQ(trace.protocol, "sns");
        ASSERT_EQ(trace.nodes.size(), 2u);
        EXPECT_EQ(trace.node_of(2), trace.node_of(0));
        EXPECT_NE(trace.node_of(1), trace.node_of(0));
        for (ckpt_message_type type :
             {CKPT_MSG_REQUEST, CKPT_MSG_STOP, CKPT_MSG_SAVE, CKPT_MSG_READY,
              CKPT_MSG_RESUME}) {
            EXPECT_EQ(trace.totals.of(type), 4u) << message_format(type)->name;
        }
        std::map<TraceKind, int> counts;
        for (const TraceEvent &event : trace.events) {
            counts[event.kind]++;
        }
        EXPECT_EQ(counts[TraceKind::cut], 4);
        EXPECT_EQ(counts[TraceKind::captured], 4);
        EXPECT_GE(counts[TraceKind::stopped], 4);
        EXPECT_EQ(counts[TraceKind::resumed], counts[TraceKind::stopped]);
        EXPECT_EQ(counts[TraceKind::written], 2);
        EXPECT_EQ(trace.events.front().type, CKPT_MSG_REQUEST);
        EXPECT_EQ(trace.events.back().kind, TraceKind::commit);
        EXPECT_EQ(trace.left_out, 0u);
    }
}

TEST(Agent, ATraceThatCannotBeWrittenHarmsNoCheckpoint)
{
    FakeJob job;
    job.set("CKPT_FAULT", "trace-write-enospc");
    job.start(2);
    control::Reply reply = job.ask("checkpoint");
    ASSERT_EQ(reply.event, "result") << reply.error;
    EXPECT_FALSE(fs::exists(fs::path(reply.result.path) / trace_name));
    Store store(job.directory());
    job.end();
    expect_consistent(store.resolve("fake/1"), 2);
}

class KilledAgent : public testing::TestWithParam<const char *>
{
};

TEST_P(KilledAgent, FailsTheCheckpointOnly)
{
    FakeJob job;
    job.set("CKPT_FAULT", GetParam());
    job.start(3);
    control::Reply reply = job.ask("checkpoint");
    EXPECT_EQ(reply.error, "the agent has died");
    for (int rank = 0; rank < 3; rank++) {
        job.rank(rank).line("agent lost");
        job.rank(rank).line("address "); /* of the new agent */
    }
    job.await_phase("running");
    reply = job.ask("checkpoint");
    ASSERT_EQ(reply.event, "result") << reply.error;
    Store store(job.directory());
    job.end();
    auto checkpoints = store.checkpoints("fake");
    ASSERT_EQ(checkpoints.size(), 1u); /* the incomplete one has been removed */
    ASSERT_EQ(checkpoints[0].state, Checkpoint::State::committed)
        << checkpoints[0].directory << " " << checkpoints[0].reason;
    expect_consistent(checkpoints[0], 3);
}

INSTANTIATE_TEST_SUITE_P(Moments, KilledAgent,
                         testing::Values("agent-during-capture",
                                         "agent-during-capture:3",
                                         "image-before-rename",
                                         "agent-before-manifest"));

class UnsoundAgent : public testing::TestWithParam<const char *>
{
};

/* The fault strikes in the second checkpoint. */
TEST_P(UnsoundAgent, SavesNothingMoreAndHarmsNobody)
{
    FakeJob job;
    job.set("CKPT_FAULT", GetParam());
    job.start(2);
    control::Reply reply = job.ask("checkpoint");
    ASSERT_EQ(reply.event, "result") << reply.error;
    const pid_t agent = job.ask("status").status.agent_pid;
    for (int round = 0; round < 2; round++) {
        reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "error");
        EXPECT_NE(reply.error.find("internal error: agent/ranks/local_node.cpp:"),
                  std::string::npos)
            << reply.error;
    }
    const control::Status status = job.ask("status").status;
    EXPECT_EQ(status.agent_pid, agent);
    EXPECT_EQ(status.phase, "running");
    EXPECT_EQ(status.last_error, reply.error);
    const bool had_resumed = std::string_view(GetParam()) == "invariant-in-reply:8";
    for (int rank = 0; rank < 2 && !had_resumed; rank++) {
        EXPECT_EQ(job.rank(rank).line("resumed internal"),
                  "resumed " + reply.error + " [internal-error]");
    }
    Store store(job.directory());
    job.end();
    ASSERT_EQ(store.checkpoints("fake").size(), 1u);
    expect_consistent(store.resolve("fake/1"), 2);
}

/* A piece of two ranks is made in two tasks and four events. */
INSTANTIATE_TEST_SUITE_P(Moments, UnsoundAgent,
                         testing::Values("invariant-in-reply:6", "invariant-in-reply:8",
                                         "invariant-in-task:3", "invariant-in-task:4"));

TEST(Agent, AnUnsoundAgentOfAnotherNodeStopsCheckpointsOnly)
{
    FakeJob job;
    job.set("CKPT_FAULT", "invariant-in-order");
    job.start_on_two_nodes(4);
    job.await_phase("running");
    control::Reply reply = job.ask("checkpoint");
    EXPECT_EQ(reply.event, "error");
    job.await_phase("running"); /* the other agent has connected again */
    for (int round = 0; round < 2; round++) {
        reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "error");
        EXPECT_NE(reply.error.find("internal error: agent/coordinator/coordinator_link.cpp:"),
                  std::string::npos)
            << reply.error;
    }
    EXPECT_TRUE(Store(job.directory()).checkpoints("fake").empty());
}

TEST(Agent, ARefusalIsToldAndTheOthersGoOn)
{
    FakeJob job;
    job.start(2, 0, 1, {"", "it holds a window made at line 7"});
    for (int round = 0; round < 2; round++) {
        control::Reply reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "error");
        EXPECT_EQ(reply.error, "rank 1: it holds a window made at line 7");
        EXPECT_EQ(reply.refusal, "unsavable-object");
        for (int rank = 0; rank < 2; rank++) {
            EXPECT_EQ(job.rank(rank).line("resumed"),
                      "resumed " + reply.error + " [unsavable-object]");
        }
    }
    const control::Status status = job.ask("status").status;
    EXPECT_EQ(status.failed, 2u);
    EXPECT_EQ(status.last_refusal, "unsavable-object");
    EXPECT_EQ(status.refusals, (RefusalCounts{{"unsavable-object", 2}}));
    EXPECT_TRUE(Store(job.directory()).checkpoints("fake").empty());
}

TEST(Agent, SaysThatRanksAreMissing)
{
    FakeJob job;
    job.start(2, 3);
    const control::Reply reply = job.ask("checkpoint");
    EXPECT_EQ(reply.refusal, "job-starting");
    EXPECT_EQ(reply.error, "the job is still starting: 2 of 3 ranks have called MPI_Init");
    EXPECT_EQ(job.ask("status").status.phase, "starting");
}

TEST(Agent, SaysThatARankHasFinished)
{
    FakeJob job;
    job.start(2);
    job.rank(1).write_line("finalize");
    job.await_phase("ending");
    EXPECT_EQ(job.ask("checkpoint").refusal, "job-ending");
    EXPECT_EQ(job.ask("status").status.refusals, (RefusalCounts{{"job-ending", 1}}));
}

TEST(Agent, ADeadRankEndsCheckpoints)
{
    FakeJob job;
    job.start(2);
    kill(job.rank(1).pid(), SIGKILL);
    job.await_phase("ending");
    EXPECT_EQ(job.ask("checkpoint").refusal, "rank-died");
}

TEST(Agent, KillsAfterTheCommitOnRequest)
{
    FakeJob job;
    job.start(2);
    control::Reply reply = job.ask("checkpoint", "kill");
    ASSERT_EQ(reply.event, "result") << reply.error;
    for (int rank = 0; rank < 2; rank++) {
        int status = job.rank(rank).wait();
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    expect_consistent(Store(job.directory()).resolve("fake"), 2);
}

TEST(Agent, TakesPeriodicCheckpoints)
{
    FakeJob job;
    job.set("CKPT_INTERVAL", "50ms");
    job.start(2);
    for (int i = 0; i < 3; i++) {
        job.rank(0).line("captured");
    }
    EXPECT_GE(job.ask("status").status.committed, 2u);
}

TEST(Agent, ANarrowTimeoutGivesUp)
{
    FakeJob job;
    job.set("CKPT_TIMEOUT", "0.001");
    job.start(2);
    control::Reply reply;
    /* The first agents may end before the job's directory is open. */
    do {
        reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "error");
    } while (reply.refusal == "silent-file-system");
    EXPECT_EQ(reply.refusal, "time-limit") << reply.error;
    EXPECT_EQ(job.rank(0).line("resumed").substr(0, 8), "resumed ");
}

TEST(Agent, AnUnusableDirectoryIsToldAtTheRequest)
{
    FakeJob job;
    std::ofstream(job.directory()) << "a file";
    job.start(1);
    control::Reply reply = job.ask("checkpoint");
    ASSERT_EQ(reply.event, "error");
    EXPECT_NE(reply.error.find(job.directory()), std::string::npos)
        << reply.error;
    fs::remove(job.directory());
    reply = job.ask("checkpoint");
    EXPECT_EQ(reply.event, "result") << reply.error;
}

TEST(Agent, NonsenseHarmsNobody)
{
    FakeJob job;
    job.start(1);
    fs::path path = job.control_socket();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.replace_extension(".sock").c_str());
    Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    ASSERT_EQ(connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                      sizeof address),
              0);
    char junk[600] = "nonsense";
    ASSERT_EQ(send(socket.get(), junk, sizeof junk, 0), 600);
    EXPECT_EQ(recv(socket.get(), junk, sizeof junk, 0), 0); /* dropped */
    EXPECT_EQ(job.ask("status").status.rejected, (RejectedFrames::Counts{{"malformed", 1}}));

    EXPECT_NE(job.ask("dance").error.find("unknown command"),
              std::string::npos);
    EXPECT_TRUE(job.saves());
}

TEST(Agent, TwoNodes)
{
    FakeJob job;
    job.start_on_two_nodes(4);
    job.await_phase("running");
    for (int round = 0; round < 2; round++) {
        control::Reply reply = job.ask("checkpoint");
        ASSERT_EQ(reply.event, "result") << reply.error;
    }
    Store store(job.directory());
    Checkpoint checkpoint = store.resolve("fake");
    EXPECT_EQ(checkpoint.manifest->pieces.size(), 2u);
    expect_consistent(checkpoint, 4);

    control::Request request = checkpoint_request();
    EXPECT_NE(Client(job.control_socket(1), request).last().error.find("rank 0"),
              std::string::npos);
    kill(job.rank(1).pid(), SIGKILL); /* on the second node */
    job.await_phase("ending");
}

TEST(Agent, AStrangerIsNotLetIn)
{
    FakeJob job;
    job.start_on_two_nodes(2);
    job.await_phase("running");
    fs::path file = job.control_socket();
    std::string text;
    std::getline(std::ifstream(file.replace_extension(".addr")), text);
    auto address = PeerAddress::parse(text);
    ASSERT_TRUE(address) << text;

    sockaddr_in loopback{};
    loopback.sin_family = AF_INET;
    loopback.sin_port = htons(address->port);
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(connect(socket.get(), reinterpret_cast<sockaddr *>(&loopback),
                      sizeof loopback),
              0);
    char challenge[256];
    ssize_t size = recv(socket.get(), challenge, sizeof challenge, 0);
    FrameReader reader(longest_handshake);
    reader.add({challenge, static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
    address->key = MessageKey::make();
    auto first = reader.next();
    ASSERT_TRUE(first);
    std::string call =
        CallerHandshake(*address, {"fake", "node1", 0}, "agent").call(*first);
    ASSERT_EQ(send(socket.get(), call.data(), call.size(), 0),
              static_cast<ssize_t>(call.size()));
    char byte;
    EXPECT_EQ(recv(socket.get(), &byte, 1, 0), 0); /* closed, without any bytes */
    EXPECT_TRUE(job.saves());
    EXPECT_EQ(job.ask("status").status.rejected, (RejectedFrames::Counts{{"forged", 1}}));
}

TEST(Listener, RefusesOtherUsers)
{
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become somebody else";
    }
    test::ScratchDirectory directory;
    std::string path = directory / "socket";
    EventLoop loop;
    RejectedFrames rejected;
    int accepted = 0;
    Listener listener(loop, path, SOCK_STREAM, rejected, [&](Fd) { accepted++; });
    chmod(directory.path().c_str(), 0777);
    chmod(path.c_str(), 0777);
    test::run_in_child([&] {
        if (setuid(65534) != 0 || !is_listening(path, SOCK_STREAM)) {
            _exit(1);
        }
    });
    EXPECT_TRUE(listener.accept_one());
    EXPECT_EQ(accepted, 0);
    EXPECT_EQ(rejected.of(Rejection::other_user), 1u);
    EXPECT_TRUE(is_listening(path, SOCK_STREAM));
    EXPECT_TRUE(listener.accept_one());
    EXPECT_EQ(accepted, 1);
}

/* Limits the process to `count` more descriptors than it has now. */
class FewDescriptors
{
  public:
    explicit FewDescriptors(rlim_t more)
    {
        getrlimit(RLIMIT_NOFILE, &before_);
        const Fd next(dup(STDOUT_FILENO));
        const rlimit few = {static_cast<rlim_t>(next.get()) + more, before_.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

/* The loop does not retry without end while descriptors are missing. */
TEST(Listener, WaitsForDescriptors)
{
    using namespace std::chrono_literals;
    test::ScratchDirectory directory;
    const std::string path = directory / "socket";
    EventLoop loop;
    RejectedFrames rejected;
    int accepted = 0;
    Listener listener(loop, path, SOCK_STREAM, rejected, [&](Fd) { accepted++; });
    {
        std::optional<FewDescriptors> few(std::in_place, 1);
        /* The probe takes the last descriptor meanwhile. */
        ASSERT_TRUE(is_listening(path, SOCK_STREAM));
        few.emplace(0);
        const auto end = std::chrono::steady_clock::now() + 350ms;
        int turns = 0;
        for (; std::chrono::steady_clock::now() < end; turns++) {
            loop.turn(end);
        }
        EXPECT_LE(turns, 10);
        EXPECT_EQ(accepted, 0);
    }
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (accepted == 0 && std::chrono::steady_clock::now() < end) {
        loop.turn(end);
    }
    EXPECT_EQ(accepted, 1);
}

TEST(LaunchFacts, ARestartedJobIsRecordedAsTheFirst)
{
    LaunchFacts facts;
    facts.launcher = {"mpirun", "-np", "2", "/opt/lib/ckpt/ckpt-restart", "d/1"};
    facts.application = {"./app", "in"};
    char name[] = "CKPT_KEEP=3", other[] = "HOME=/", job[] = "CKPT_RESTART_JOB=x";
    char incarnation[] = "CKPT_INCARNATION=2";
    char *environment[] = {name, other, job, incarnation, nullptr};
    Launch launch = launch_record(facts, environment);
    EXPECT_EQ(launch.launcher, (std::vector<std::string>{
                                   "mpirun", "-np", "2", "./app", "in"}));
    EXPECT_EQ(launch.environment.size(), 1u);
    EXPECT_EQ(launch.environment.at("CKPT_KEEP"), "3");
}

/* Returns the launcher that is recorded for a rank without a launcher among its ancestors. */
std::vector<std::string> recorded_from(std::vector<std::string> variables, pid_t launcher = 0)
{
    LaunchFacts facts;
    facts.launcher_pid = launcher;
    facts.application = {"./app", "in"};
    std::vector<char *> environment;
    for (std::string &variable : variables) {
        environment.push_back(variable.data());
    }
    environment.push_back(nullptr);
    return launch_record(facts, environment.data()).launcher;
}

TEST(LaunchFacts, SrunIsKnownByWhatItTellsItsRanks)
{
    const std::vector<std::string> variables = {"PMIX_RANK=0", "SLURM_STEP_NUM_TASKS=4",
                                                "SLURM_STEP_NUM_NODES=2"};
    EXPECT_EQ(recorded_from(variables),
              (std::vector<std::string>{"srun", "--mpi=pmix", "-N", "2", "-n", "4", "./app",
                                        "in"}));
    auto below_orted = variables;
    below_orted.push_back("OMPI_COMM_WORLD_RANK=0");
    EXPECT_TRUE(recorded_from(below_orted).empty());
    EXPECT_TRUE(recorded_from(variables, 4711).empty()) << "a program alone";
    EXPECT_TRUE(recorded_from({"PMIX_RANK=0"}).empty());
}

TEST(LaunchFacts, AProgramAloneIsItsOwnLauncher)
{
    LaunchFacts facts = read_launch_facts(getpid(), true);
    EXPECT_EQ(facts.launcher_pid, getpid());
    EXPECT_TRUE(facts.launcher.empty());
    EXPECT_FALSE(facts.application.empty());
}

TEST(Control, DecodersRefuseWhatIsNotOurs)
{
    control::Request request;
    std::string error;
    EXPECT_FALSE(control::decode_request("{", request, error));
    EXPECT_FALSE(control::decode_request("[]", request, error));
    EXPECT_FALSE(control::decode_request(R"({"version":"x"})", request, error));
    EXPECT_FALSE(control::decode_request(R"({"version":2})", request, error));
    EXPECT_NE(error.find("version 2"), std::string::npos);
    EXPECT_TRUE(control::decode_request(
        R"({"version":1,"command":"status"})", request, error));
    EXPECT_EQ(request.command, "status");
    EXPECT_EQ(control::namespace_hash(""), "cbf29ce484222325");
    EXPECT_EQ(control::namespace_hash("a"), "af63dc4c8601ec8c");
}

TEST(Agent, TellsWhichRanksAreOnWhichNode)
{
    FakeJob job;
    job.start_on_two_nodes(4);
    const control::Status status = job.await_phase("running");
    ASSERT_EQ(status.nodes.size(), 2u);
    using Runs = std::vector<std::pair<int, int>>;
    EXPECT_EQ(status.nodes[0].ranks, (Runs{{0, 0}, {2, 2}}));
    EXPECT_EQ(status.nodes[1].ranks, (Runs{{1, 1}, {3, 3}}));
    EXPECT_NE(status.nodes[0].host, status.nodes[1].host);
    EXPECT_TRUE(status.nodes[0].connected && status.nodes[1].connected);
    job.end();
}

TEST(Agent, KeepsAFileOfMetrics)
{
    FakeJob job;
    job.set("CKPT_METRICS", job.directory() + "/%j.prom");
    job.start(2);
    ASSERT_TRUE(job.saves());
    const control::Status status = job.ask("status").status;
    EXPECT_EQ(status.totals.bytes, status.last.bytes);
    EXPECT_GT(status.last_at, status.started);
    job.end();
    const std::string text = read_text_file(job.directory() + "/fake.prom", "metrics");
    EXPECT_NE(text.find("ckpt_checkpoints_committed_total{job=\"fake\",host="),
              std::string::npos)
        << text;
    EXPECT_NE(text.find(fmt::format("}} {}\n", status.last.bytes)), std::string::npos) << text;
    /* Ranks without MPI_Finalize fail. */
    EXPECT_NE(text.find("state=\"failed\"} 1\n"), std::string::npos) << text;
}

TEST(MetricsFile, HasHostAndJobInItsName)
{
    EXPECT_EQ(metrics_path("/d/%j@%h.prom", "n1", "melt"), "/d/melt@n1.prom");
    EXPECT_EQ(metrics_path("/100%%/%x%", "n1", "melt"), "/100%/%x%");
}

} // namespace ckpt
