/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_hostile_peers.cpp - agents and ranks of the job itself that misbehave: their messages at
 * most end their connection. Checkpoints of a job whose other agents and ranks sometimes send
 * nonsense; orders of a coordinator that does.
 */
#include "config.h"
#include "agent/coordinator/coordinator.hpp"
#include "agent/coordinator/coordinator_link.hpp"
#include "agent/messages/frames.hpp"
#include "agent/ranks/local_node.hpp"
#include "agent/base/log.hpp"
#include "agent/ranks/node_sweep.hpp"
#include "agent/links/peer_listener.hpp"
#include "agent/coordinator/remote_node.hpp"
#include "common/files/files.hpp"
#include "protocol/rank_message.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/descriptor_message.hpp"
#include "tests/common/mutations.hpp"
#include "tests/common/rank_page_file.hpp"

#include <gtest/gtest.h>

#include <spdlog/spdlog.h>

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <list>
#include <memory>
#include <optional>
#include <set>

namespace ckpt
{

namespace
{

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using test::for_rounds;
using test::Mutations;

constexpr int rank_count = 4;

/* Orders must do no harm outside of this directory, also with a mutated name; and thousands of
 * Rejected frames must not fill the output. */
class Hostile : public testing::Test
{
  protected:
    Hostile()
        : before_(std::filesystem::current_path())
    {
        setenv("CKPT_LOG_LEVEL", "off", 1);
        start_log();
        signal(SIGWINCH, SIG_IGN);
        std::filesystem::current_path(scratch_.path());
        settings_.host = "n1";
        settings_.launch_namespace = "space";
        settings_.directory = scratch_ / "ckpt";
        settings_.run_directory = scratch_.path();
        settings_.name = "job";
        settings_.timeout = std::chrono::seconds(2);
    }
    ~Hostile() override { std::filesystem::current_path(before_); }

    std::filesystem::path before_;
    test::ScratchDirectory scratch_;
    Settings settings_{ckpt::settings::Values()};
    RejectedFrames rejected_;
};

/* An event loop with a worker, which is destroyed first. */
struct Machinery {
    Machinery()
    {
        loop.watch(worker.descriptor(), EPOLLIN,
                   [this](std::uint32_t) { worker.run_replies(); });
    }
    ~Machinery() { loop.forget(worker.descriptor()); }

    EventLoop loop;
    WorkerThread worker;
};

std::pair<Fd, Fd> socket_pair(int type)
{
    int ends[2] = {-1, -1};

    EXPECT_EQ(socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    return {Fd(ends[0]), Fd(ends[1])};
}

/* Both ends of a connection after the handshake. */
std::pair<std::unique_ptr<FrameStream>, std::unique_ptr<FrameStream>>
stream_pair(EventLoop &loop, RejectedFrames &rejected)
{
    const MessageKey there = MessageKey::make(), back = MessageKey::make();
    auto [one, other] = socket_pair(SOCK_STREAM);
    auto first = std::make_unique<FrameStream>(loop, std::move(one), "one", rejected);
    auto second = std::make_unique<FrameStream>(loop, std::move(other), "other", rejected);

    first->trust(there, back);
    second->trust(back, there);
    return {std::move(first), std::move(second)};
}

/* ---- An agent of another node -------------------------------------------------- */

/* Answers orders as an agent does, and sometimes slightly wrong. */
class MadAgent
{
  public:
    MadAgent(std::unique_ptr<FrameStream> stream, std::string host, std::set<int> ranks,
             Mutations &mutations)
        : stream_(std::move(stream)), host_(std::move(host)), ranks_(std::move(ranks)),
          mutations_(mutations)
    {
        stream_->handle({[this](const json &order) { obey(order); },
                         [this] { stream_.reset(); }});
        say({{"type", "node"},
             {"address", "1 " + host_},
             {"blocks", "2 " + host_},
             {"file_system", to_frame(FileSystem{})}});
        for (int rank : ranks_) {
            json here = counts();
            here.update({{"type", "here"},
                         {"rank", rank},
                         {"count", rank_count},
                         {"pid", 1},
                         {"cut", 0},
                         {"open", false},
                         {"in_doubt", false},
                         {"asked", 0},
                         {"memory", 0}});
            say(here);
        }
    }

    bool is_connected() const { return stream_ != nullptr; }

  private:
    void say(const json &frame)
    {
        if (stream_ != nullptr) {
            stream_->send(mutations_.one_in(60) ? mutations_.json(frame) : frame);
        }
    }

    json counts() const
    {
        const std::vector<std::uint64_t> none(rank_count, 0);
        return {{"sent", none}, {"received", none}};
    }

    void obey(const json &order)
    {
        const std::string type = order.at("type");

        if (order.contains("directory")) {
            directory_ = order.at("directory").get<std::string>();
        }
        if (type == "send") {
            answer(order.at("rank"), message_from(order.at("message"), CKPT_FROM_AGENT));
        } else if (type == "capture" || type == "close_piece") {
            for (int rank : ranks_) {
                say({{"type", "captured"}, {"rank", rank}});
            }
            say_written();
        } else if (type == "add_to_piece") {
            say({{"type", "captured"}, {"rank", order.at("rank")}});
        } else if (type == "open_sweep") {
            say({{"type", "sweep_opened"}});
        } else if (type == "undo") {
            say({{"type", "undone"}});
        } else if (type == "clock") {
            say({{"type", "clock"}, {"asked", order.at("asked")}, {"there", 1}});
        }
        if (mutations_.one_in(100)) {
            say_out_of_turn();
        }
    }

    /* A rank's answer to an order of the cut. */
    void answer(int rank, const ckpt_message &order)
    {
        static const std::map<std::uint32_t, ckpt_message_type> answers = {
            {CKPT_MSG_REQUEST, CKPT_MSG_REPORT},
            {CKPT_MSG_RUN, CKPT_MSG_REPORT},
            {CKPT_MSG_STOP, CKPT_MSG_STOPPED},
            {CKPT_MSG_DRAIN, CKPT_MSG_DRAINED},
            {CKPT_MSG_SAVE, CKPT_MSG_READY},
            {CKPT_MSG_CUT, CKPT_MSG_READY},
            {CKPT_MSG_COUNTS, CKPT_MSG_COMPLETE},
            {CKPT_MSG_SWEPT, CKPT_MSG_COMPLETE},
            {CKPT_MSG_CLOSE, CKPT_MSG_LOGGED},
        };
        const auto found = answers.find(order.type);
        if (found == answers.end()) {
            return;
        }
        ckpt_message message = make_message(
            mutations_.one_in(60) ? CKPT_MSG_REFUSED : found->second, order.epoch);
        if (message.type == CKPT_MSG_REPORT || message.type == CKPT_MSG_STOPPED) {
            message.as.report.place = CKPT_PLACE_FREE;
            message.as.report.holds = 1;
        } else if (message.type == CKPT_MSG_COMPLETE) {
            message.as.complete = {CKPT_CUT_SWEEP, 0, 1};
        } else if (message.type != CKPT_MSG_REFUSED) { /* an address, a number of messages */
            message.as.field[0] = 1;
        }
        if (mutations_.one_in(40)) {
            message.as.field[mutations_.below(CKPT_MESSAGE_FIELDS)] = mutations_.number();
        }
        json said = counts();
        said.update({{"type", "said"},
                     {"rank", rank},
                     {"message", to_frame(message)},
                     {"clocks", to_frame(std::vector<ckpt_clock>{{7, 1, 1, 0, 1}})}});
        if (found->second == CKPT_MSG_LOGGED) {
            RankSeen seen;
            seen.events.push_back({1, 2, CKPT_SEEN_LOGGED, 1});
            seen.sweep.push_back({0, 1, 0, true, 3});
            said["seen"] = to_frame(seen);
        }
        say(said);
    }

    void say_written()
    {
        Piece piece;

        piece.file = "node-" + host_ + ".h5";
        piece.host = host_;
        piece.ranks = {ranks_.begin(), ranks_.end()};
        std::ofstream(directory_ / piece.file) << "piece";
        say({{"type", "written"},
             {"piece", to_frame(piece)},
             {"memory", 1},
             {"standing", 0},
             {"faults", FaultSummary()}});
    }

    void say_out_of_turn()
    {
        const int rank = static_cast<int>(mutations_.below(rank_count + 1)) - 1;
        const json frames[] = {
            {{"type", "finished"}, {"rank", rank}},
            {{"type", "gone"}, {"rank", rank}},
            {{"type", "captured"}, {"rank", rank}},
            {{"type", "clocks"}, {"rank", rank}, {"clocks", to_frame(std::vector<ckpt_clock>{})}},
            {{"type", "failed"}, {"reason", "it"}},
            {{"type", "failed_once"}, {"reason", "it"}},
            {{"type", "saved"}, {"directory", directory_.string()}, {"bytes", 7}},
            {{"type", "sweep_failed"}, {"reason", "it"}},
            {{"type", "sweep_opened"}},
            {{"type", "undone"}},
            {{"type", "copied"}, {"file", "f"}, {"error", ""}},
            {{"type", "folded"}, {"number", 1}, {"piece", to_frame(Piece())}},
            {{"type", "refused"}, {"counts", {{"forged", 1}}}}};
        say(frames[mutations_.below(std::size(frames))]);
    }

    std::unique_ptr<FrameStream> stream_;
    const std::string host_;
    const std::set<int> ranks_;
    std::filesystem::path directory_; /* of the checkpoint */
    Mutations &mutations_;
};

/* No `ckpt run` supervises the job. */
Coordinator::Hooks no_hooks()
{
    return {[](const std::string &) {}, [](const Unprotected::News &) {}};
}

/* A coordinator, and two agents with two ranks each. */
class MadJob
{
  public:
    MadJob(const Settings &settings, RejectedFrames &rejected, Mutations &mutations)
        : coordinator_(
              settings, machinery_.worker, LaunchFacts(), rank_count,
              [this](ClientId, const control::Reply &reply) {
                  reply_ = reply.event == "progress" ? reply_ : reply.event;
              },
              no_hooks())
    {
        for (int node = 0; node < 2; node++) {
            const std::string host = "n" + std::to_string(node + 1);
            auto [here, there] = stream_pair(machinery_.loop, rejected);
            Remote &remote = remotes_.emplace_back();
            remote.node = std::make_unique<RemoteNode>(
                std::move(here), host, coordinator_, [this, &remote] {
                    remote.gone = true;
                    coordinator_.node_gone(*remote.node);
                });
            agents_.push_back(std::make_unique<MadAgent>(
                std::move(there), host, std::set<int>{2 * node, 2 * node + 1},
                mutations));
        }
    }
    ~MadJob()
    {
        machinery_.worker.stop();
    }

    /* "result" or "error". */
    std::string checkpoint()
    {
        const auto end = steady_clock::now() + std::chrono::seconds(20);

        reply_.clear();
        coordinator_.request(1, Then::go_on);
        while (reply_.empty() && steady_clock::now() < end) {
            turn();
        }
        return reply_;
    }
    void turn()
    {
        const auto now = steady_clock::now();

        machinery_.loop.turn(std::min(coordinator_.next_tick(now), now + milliseconds(20)));
        coordinator_.tick(steady_clock::now());
        std::erase_if(remotes_, [](const Remote &remote) { return remote.gone; });
    }

  private:
    struct Remote {
        std::unique_ptr<RemoteNode> node;
        bool gone = false;
    };

    Machinery machinery_;
    std::string reply_;
    Coordinator coordinator_;
    std::list<Remote> remotes_;
    std::vector<std::unique_ptr<MadAgent>> agents_;
};

class HostileAgents : public Hostile, public testing::WithParamInterface<const char *>
{
};

TEST_P(HostileAgents, FailCheckpointsAtMost)
{
    std::map<std::string, int> outcomes;

    settings_.protocol = GetParam();
    for_rounds(25, [&](Mutations &mutations) {
        MadJob job(settings_, rejected_, mutations);
        for (int i = 0; i < 6; i++) {
            job.turn(); /* their greetings */
        }
        for (int i = 0; i < 3; i++) {
            const std::string outcome = job.checkpoint();
            EXPECT_NE(outcome, "") << "no answer";
            outcomes[outcome]++;
        }
    });
    EXPECT_GT(outcomes["result"], 0);
    EXPECT_GT(outcomes["error"], 0);
    EXPECT_GT(rejected_.of(Rejection::malformed), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, HostileAgents, testing::Values("sns", "cl", "ns"));

/* ---- A rank ------------------------------------------------------------------------ */

/* A rank in this process, with the rank's end of its connection. */
class OwnRank
{
  public:
    /* page: as a rank sends it. */
    explicit OwnRank(Fd page)
        : page_(std::move(page)), tid_(static_cast<std::uint64_t>(gettid()))
    {
    }
    explicit OwnRank(int seals = F_SEAL_SHRINK)
        : tid_(static_cast<std::uint64_t>(gettid()))
    {
        ckpt_rank_page *page = nullptr;
        page_ = test::make_rank_page(0, rank_count, page, seals);
        munmap(page, CKPT_RANK_PAGE_SIZE(static_cast<std::size_t>(rank_count)));
    }

    /* Connects; says HELLO. */
    void join(LocalNode &node)
    {
        auto [agent, rank] = socket_pair(SOCK_SEQPACKET);
        socket_ = std::move(rank);
        node.accept(std::move(agent));
        (void)test::send_with_descriptor(socket_.get(), hello(), page_.get());
    }
    ckpt_message hello() const
    {
        ckpt_message message = make_message(CKPT_MSG_HELLO, 0);
        message.as.hello.rank_count = rank_count;
        message.as.hello.pid = static_cast<std::uint64_t>(getpid());
        message.as.hello.thread = tid_;
        message.as.hello.signal = SIGWINCH;
        return message;
    }
    /* Sends a message, with the page's descriptor if required. */
    void say(const ckpt_message &message, std::size_t size, bool has_descriptor)
    {
        if (has_descriptor && size == sizeof message) {
            (void)test::send_with_descriptor(socket_.get(), message, page_.get());
        } else {
            (void)send(socket_.get(), &message, size, MSG_NOSIGNAL);
        }
    }
    /* The type of the next message, 0 if there is none. */
    std::uint32_t hear()
    {
        ckpt_message message;

        return recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT) > 0 ? message.type : 0;
    }
    /* Discards its messages. Returns false after it was dropped. */
    bool listen()
    {
        ckpt_message message;
        ssize_t size;

        while ((size = recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT)) > 0) {
        }
        return size < 0 && errno == EAGAIN;
    }

  private:
    Fd page_;
    Fd socket_;
    std::uint64_t tid_;
};

/* Any message, except with a signal number, which the agent would send to this process. */
ckpt_message mad_message(const OwnRank &rank, Mutations &mutations)
{
    ckpt_message message = mutations.one_in(4)
                               ? rank.hello()
                               : make_message(static_cast<std::uint32_t>(
                                                  mutations.below(CKPT_MSG_WHERE + 2)),
                                              0);
    for (std::size_t count = mutations.below(4); count > 0; count--) {
        message.as.field[mutations.below(CKPT_MESSAGE_FIELDS)] = mutations.number();
    }
    if (message.type == CKPT_MSG_HELLO && message.as.hello.signal <= 64) {
        message.as.hello.signal = SIGWINCH;
    }
    if (const auto *format = ckpt_message_find(message.type); mutations.one_in(2) && format) {
        for (std::uint32_t i = 0; i < format->field_count; i++) { /* something valid */
            const ckpt_message_field &field = format->field[i];
            message.as.field[i] = std::clamp(message.as.field[i], field.least, field.most);
        }
    }
    message.epoch = mutations.one_in(2) ? 1 : mutations.number();
    message.magic ^= mutations.one_in(20) ? 1 : 0;
    message.version += mutations.one_in(20) ? 1 : 0;
    std::fill_n(message.text, mutations.one_in(8) ? sizeof message.text : 0, 'x');
    return message;
}

/* The agent of this node, which coordinates. */
struct OwnAgent {
    OwnAgent(Settings &settings, RejectedFrames &rejected)
        : node(machinery.loop, machinery.worker, settings, rejected,
               {[](auto &) { return "address"; }, [](auto &) {}}),
          coordinator(
              settings, machinery.worker, LaunchFacts(), rank_count,
              [](ClientId, const control::Reply &) {}, no_hooks())
    {
        node.attach(&coordinator);
    }
    ~OwnAgent()
    {
        machinery.worker.stop();
        node.attach(nullptr);
    }

    Machinery machinery;
    LocalNode node;
    Coordinator coordinator;
};

/* Otherwise a rank could truncate the page, and the agent would die of its next access. */
TEST_F(Hostile, RankKeepsTheSizeOfItsPage)
{
    for (const int seals : {0, F_SEAL_GROW, F_SEAL_SHRINK}) {
        OwnAgent agent(settings_, rejected_);
        OwnRank rank(seals);
        rank.join(agent.node);
        agent.machinery.loop.turn(steady_clock::now());
        EXPECT_EQ(rank.listen(), seals == F_SEAL_SHRINK) << seals;
    }
    ckpt_rank_page *page = nullptr;
    const Fd good = test::make_rank_page(0, rank_count, page);
    /* This file cannot have seals, or has none. */
    const std::string path = scratch_ / "page";
    std::filesystem::copy_file(fmt::format("/proc/self/fd/{}", good.get()), path);
    OwnAgent agent(settings_, rejected_);
    OwnRank rank(open_file(path, O_RDWR, 0, "page"));
    rank.join(agent.node);
    agent.machinery.loop.turn(steady_clock::now());
    EXPECT_FALSE(rank.listen());
}

/* The rank runs on a node that does not see the coordinator's directory. */
TEST_F(Hostile, RankIsToldOfItsLogWhenTheDirectoryIsThere)
{
    OwnAgent agent(settings_, rejected_);
    Machinery &machinery = agent.machinery;
    LocalNode &node = agent.node;
    OwnRank rank;
    rank.join(node);
    machinery.loop.turn(steady_clock::now());
    (void)rank.listen();
    const std::filesystem::path directory = settings_.directory / "job" / "000007";
    std::promise<void> answer; /* of the file system */
    machinery.worker.run([&] { answer.get_future().wait(); });
    node.open_piece(directory);
    const ckpt_message_body cut = {.cut = {CKPT_CUT_MARKERS, 0}};
    node.send({0, CKPT_MSG_CUT, false, cut, directory / "rank-0.log"}, 1);
    machinery.loop.turn(steady_clock::now());
    EXPECT_EQ(rank.hear(), 0u);
    answer.set_value();
    std::uint32_t heard = 0;
    while ((heard = rank.hear()) == 0) {
        machinery.loop.turn(steady_clock::now() + std::chrono::seconds(10));
    }
    EXPECT_EQ(heard, CKPT_MSG_CUT);
    EXPECT_TRUE(directory_exists(directory));
}

TEST_F(Hostile, RanksLoseTheirConnectionAtMost)
{
    std::uint64_t dropped = 0, heard = 0;

    for_rounds(60, [&](Mutations &mutations) {
        OwnAgent agent(settings_, rejected_);
        Machinery &machinery = agent.machinery;
        LocalNode &node = agent.node;
        Coordinator &coordinator = agent.coordinator;
        OwnRank rank;
        rank.join(node);
        for (int i = 0; i < 30; i++) {
            rank.say(mad_message(rank, mutations),
                     mutations.one_in(20) ? mutations.below(700) % sizeof(ckpt_message)
                                          : sizeof(ckpt_message),
                     mutations.one_in(3));
            machinery.loop.turn(steady_clock::now());
            coordinator.tick(steady_clock::now());
            heard++;
            if (!rank.listen()) {
                dropped++;
                rank.join(node);
            }
        }
    });
    EXPECT_GT(dropped, 0u);
    EXPECT_GT(heard, dropped);
    EXPECT_GT(rejected_.of(Rejection::malformed), 0u);
    EXPECT_GT(rejected_.of(Rejection::foreign), 0u);
}

/* ---- A coordinator ------------------------------------------------------------------- */

/* All orders but not KILL: the ranks are this process. */
std::vector<json> orders(const std::string &directory)
{
    const std::vector<std::uint64_t> numbers(rank_count, 1);
    const std::string checkpoint = directory + "/ckpt/job/000001";
    SweepPlan plan;

    plan.members = {{"n1", "1 n1", {{0, 1}}}, {"n2", "2 n2", {{2, 3}}}};
    plan.sides = {2};
    return {{{"type", "targets"}, {"rank", 0}, {"targets", numbers}},
            {{"type", "expected"}, {"rank", 0}, {"expected", numbers}},
            {{"type", "send"},
             {"rank", 0},
             {"message", to_frame(make_message(CKPT_MSG_REQUEST, 1, {.request = {1, 1}}, "text"))},
             {"signal", true}},
            {{"type", "capture"}, {"directory", checkpoint}, {"snapshots", RankSnapshots{{0, 1}}}},
            {{"type", "open_piece"}, {"directory", checkpoint}},
            {{"type", "add_to_piece"}, {"rank", 0}, {"snapshot", 1}},
            {{"type", "close_piece"}, {"ranks", {0}}},
            {{"type", "sweep_plan"}, {"plan", to_frame(plan)}},
            {{"type", "open_sweep"}, {"epoch", 1}},
            {{"type", "undo"}},
            {{"type", "committed"}, {"number", 1}},
            {{"type", "copy_piece"},
             {"from", checkpoint},
             {"to", checkpoint},
             {"piece", to_frame(Piece())}},
            to_frame(RedundancyOrder{
                1,
                checkpoint,
                redundancy::Group::make(1, {{"a", "node-a.h5", 1}, {"b", "node-b.h5", 2}}),
                0,
                {"1 a", "1 b"}}),
            {{"type", "discard"}, {"job", directory + "/ckpt/job"}, {"end", 1}, {"stay", {1}}}};
}

TEST_F(Hostile, ACoordinatorLosesItsConnectionAtMost)
{
    Machinery machinery;
    LocalNode node(machinery.loop, machinery.worker, settings_, rejected_,
                   {[](auto &) { return "address"; }, [](auto &) {}});
    OwnRank rank;
    rank.join(node);
    std::unique_ptr<FrameStream> coordinator;
    std::uint64_t answers = 0, lost = 0;
    PeerListener listener(
        machinery.loop, settings_.identity(), PeerAddress::make(), rejected_,
        [&](std::unique_ptr<FrameStream> stream, const std::string &,
            const std::string &) {
            coordinator = std::move(stream);
            coordinator->handle({[&](const json &frame) {
                                     answers += frame.at("type") == "clock" ? 1 : 0;
                                 },
                                 [&] {
                                     coordinator.reset();
                                     lost++;
                                 }});
        });
    node.set_job_key(listener.address().key);
    auto link = std::make_unique<CoordinatorLink>(machinery.loop, machinery.worker, node,
                                                  settings_, listener.address(),
                                                  rejected_);
    auto turn = [&] {
        machinery.loop.turn(steady_clock::now() + milliseconds(20));
        link->tick(steady_clock::now() + std::chrono::hours(1)); /* calls at once */
        if (!rank.listen()) {
            rank.join(node);
        }
    };
    const std::vector<json> good = orders(scratch_.path());

    for_rounds(400, [&](Mutations &mutations) {
        while (coordinator == nullptr || !link->connected()) {
            turn();
        }
        const auto before = answers + lost;
        coordinator->send(mutations.json(good[mutations.below(good.size())]));
        coordinator->send({{"type", "clock"}, {"asked", 1}});
        while (answers + lost == before) {
            turn();
        }
    });
    EXPECT_GT(answers, 0u);
    EXPECT_GT(lost, 0u);
    EXPECT_EQ(rejected_.total(), lost);
    machinery.worker.stop();
    link.reset();
}

/* ---- A neighbour -------------------------------------------------------------------- */

TEST_F(Hostile, ANeighbourFailsTheSweepAtMost)
{
    Machinery machinery;
    std::list<std::unique_ptr<FrameStream>> accepted;
    PeerListener listener(machinery.loop, settings_.identity(), PeerAddress::make(),
                          rejected_,
                          [&](auto stream, const std::string &, const std::string &) {
                              stream->handle({[](const json &) {}, [] {}});
                              accepted.push_back(std::move(stream));
                          });
    std::uint64_t opened = 0, swept = 0, failed = 0, epoch = 0;
    NodeSweep sweep(machinery.loop, machinery.worker, settings_, rejected_,
                    {[&] { opened++; }, [&](int, std::uint64_t) { swept++; },
                     [&](const std::string &) { failed++; }});
    sweep.set_job_key(listener.address().key);
    SweepPlan plan;
    plan.members = {{"n1", listener.address().place(), {{0, 1}}},
                    {"n2", listener.address().place(), {{2, 3}}}};
    plan.sides = {2};
    sweep.set_plan(plan);

    for_rounds(400, [&](Mutations &mutations) {
        auto [here, there] = stream_pair(machinery.loop, rejected_);
        bool is_open = true;
        there->handle({[](const json &) {}, [&] { is_open = false; }});
        sweep.accept(std::move(here));
        const auto before = opened;
        sweep.open(++epoch);
        while (opened == before) {
            machinery.loop.turn(steady_clock::now() + milliseconds(20));
        }
        const json good = {{"type", "sweep"},
                           {"epoch", epoch},
                           {"from", 1},
                           {"to", 0},
                           {"dimension", 0},
                           {"counts", {{0, 1, 5}, {1, 2, 6}}}};
        there->send(mutations.one_in(4) ? good : mutations.json(good));
        there->send({{"type", "end"}}); /* this is not a sweep's message */
        while (is_open) {
            machinery.loop.turn(steady_clock::now() + milliseconds(20));
        }
        for (int rank : {0, 1}) {
            sweep.cut(rank, epoch, std::vector<std::uint64_t>(rank_count, 1));
        }
    });
    EXPECT_GT(failed, 0u);
    machinery.worker.stop();
}

} // namespace

} // namespace ckpt
