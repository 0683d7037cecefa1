/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_simulator.cpp - simulated checkpoints: their messages compared with the
 * formulas of chapter 2 of Plank (1993), and their logs with a replay of all
 * events.
 */
#include "config.h"
#include "simulator/result_text.hpp"
#include "simulator/simulation.hpp"

#include "common/error.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <tuple>

namespace ckpt::simulator
{

namespace
{

/* All events, and what should have been logged: the messages of each channel
 * are received in the order of sending. */
class Replay : public Recorder
{
  public:
    struct Message {
        std::uint64_t bytes;
        bool sent_before_cut;
        bool received_before_cut = false;
    };

    explicit Replay(Rank ranks)
        : has_cut_(ranks) {}

    void sent(Rank from, Rank to, std::uint64_t bytes) override
    {
        channels_[{from, to}].push_back({bytes, !has_cut_[from]});
        meanwhile_ |= has_cut_[from];
    }
    void received(Rank rank, Rank from, bool is_new) override
    {
        Message &message = channels_[{from, rank}].at(taken_[{from, rank}]++);
        message.received_before_cut = !has_cut_[rank];
        EXPECT_EQ(is_new, !message.sent_before_cut)
            << "rank " << rank << " receives out of order from " << from;
    }
    void cut(Rank rank) override
    {
        EXPECT_FALSE(has_cut_[rank]) << "rank " << rank << " cuts twice";
        has_cut_[rank] = true;
    }
    void logged(Rank rank, Rank from, std::uint64_t bytes) override
    {
        logged_[{from, rank}].push_back(bytes);
    }

    /* No message crosses the cut backwards. Each message that crosses it
     * forwards is in the log once and in order, and the log has no others. */
    void expect_complete(const Log &log) const
    {
        Log all;
        for (const auto &[channel, messages] : channels_) {
            std::vector<std::uint64_t> expected;
            for (const Message &message : messages) {
                EXPECT_FALSE(!message.sent_before_cut &&
                             message.received_before_cut)
                    << "the cut is not consistent";
                if (message.sent_before_cut && !message.received_before_cut) {
                    expected.push_back(message.bytes);
                    all.messages++;
                    all.bytes += message.bytes;
                }
            }
            auto found = logged_.find(channel);
            EXPECT_EQ(found != logged_.end() ? found->second
                                             : std::vector<std::uint64_t>(),
                      expected)
                << "from rank " << channel.first << " to " << channel.second;
        }
        EXPECT_EQ(log.messages, all.messages);
        EXPECT_EQ(log.bytes, all.bytes);
        EXPECT_EQ(std::count(has_cut_.begin(), has_cut_.end(), true),
                  static_cast<std::ptrdiff_t>(has_cut_.size()));
    }

    /* Counts the pairs that have communicated before the sender's cut, or after
     * it. */
    std::uint64_t channels_used(bool before_cut) const
    {
        return static_cast<std::uint64_t>(std::count_if(
            channels_.begin(), channels_.end(), [&](const auto &channel) {
                return std::any_of(channel.second.begin(), channel.second.end(),
                                   [&](const Message &message) {
                                       return message.sent_before_cut ==
                                              before_cut;
                                   });
            }));
    }
    /* Counts the channels that were first used after the sender's cut. */
    std::uint64_t channels_first_used() const
    {
        return static_cast<std::uint64_t>(std::count_if(
            channels_.begin(), channels_.end(), [](const auto &channel) {
                return !channel.second.front().sent_before_cut;
            }));
    }
    bool goes_on_meanwhile() const
    {
        return meanwhile_;
    }

  private:
    using Channel = std::pair<Rank, Rank>; /* from, to */
    std::map<Channel, std::vector<Message>> channels_;
    std::map<Channel, std::size_t> taken_;
    std::map<Channel, std::vector<std::uint64_t>> logged_;
    std::vector<bool> has_cut_;
    bool meanwhile_ = false;
};

Scenario small_scenario(Rank ranks = 24)
{
    Scenario scenario;
    scenario.job.ranks = ranks;
    scenario.job.ranks_per_node = 4;
    scenario.job.image_bytes = 1e6; /* 0.5 ms, half a round */
    scenario.at = 2.3e-3;
    return scenario;
}

Result run(const Scenario &scenario, const std::string &pattern,
           Recorder *recorder = nullptr)
{
    auto program = make_pattern(pattern, scenario.job, {});
    return simulate(scenario, *program, recorder);
}

/* Protocol, staggered, pattern. */
using Case = std::tuple<std::string, bool, std::string>;

class Protocols : public testing::TestWithParam<Case>
{
  public:
    Scenario scenario_of(Rank ranks) const
    {
        Scenario scenario = small_scenario(ranks);
        scenario.protocol = protocol_names.at(std::get<0>(GetParam()));
        scenario.checkpoint.stagger = std::get<1>(GetParam());
        return scenario;
    }
    const std::string &pattern() const
    {
        return std::get<2>(GetParam());
    }
};

/* In half of the cases images are small, so that messages are still under way
 * when all ranks are saved. The new messages of a rank may then arrive before
 * the old ones. */
TEST_P(Protocols, LogEveryCrossCutMessageOnce)
{
    for (Rank ranks : {1, 2, 7, 24}) {
        for (std::uint64_t seed = 1; seed <= 24; seed++) {
            SCOPED_TRACE(testing::Message() << ranks << " ranks, " << seed);
            Scenario scenario = scenario_of(ranks);
            JobModel &job = scenario.job;
            job.seed = seed;
            job.image_bytes = seed % 2 == 0 ? 1e6 : 1e3;
            job.latency_between = 1e-6 * static_cast<double>(seed * 40);
            job.latency_inside = job.latency_between / 3;
            job.latency_spread = 4;
            scenario.at = 1e-4 * static_cast<double>(11 * seed);
            Replay replay(ranks);
            const Result result = run(scenario, pattern(), &replay);
            replay.expect_complete(result.log);
        }
    }
}

TEST_P(Protocols, AreRepeatable)
{
    const Scenario scenario = this->scenario_of(24);
    EXPECT_EQ(to_json(scenario, "", run(scenario, pattern())),
              to_json(scenario, "", run(scenario, pattern())));
}

INSTANTIATE_TEST_SUITE_P(Simulator, Protocols,
                         testing::Combine(testing::Values("sns", "cl", "ns"),
                                          testing::Bool(),
                                          testing::ValuesIn(pattern_names())));

class Patterns : public testing::TestWithParam<std::string>
{
};

TEST_P(Patterns, SyncAndStopTakes4n)
{
    const Scenario scenario = small_scenario();
    const MessageCounts messages = run(scenario, GetParam()).messages;
    EXPECT_EQ(messages.requests + messages.drained + messages.save_orders +
                  messages.saved,
              4U * scenario.job.ranks);
    EXPECT_EQ(messages.stopped + messages.drain_orders,
              2U * scenario.job.ranks);
    EXPECT_EQ(messages.resumed, scenario.job.ranks);
    EXPECT_EQ(messages.alignment, 2U * scenario.job.ranks);
    EXPECT_EQ(messages.markers + messages.first_use_markers + messages.sweep,
              0U);
}

TEST_P(Patterns, ChandyLamportMarksTheUsedChannels)
{
    for (bool stagger : {false, true}) {
        Scenario scenario = small_scenario();
        scenario.protocol = Protocol::chandy_lamport;
        scenario.checkpoint.stagger = stagger;
        Replay replay(scenario.job.ranks);
        const MessageCounts messages =
            run(scenario, GetParam(), &replay).messages;
        EXPECT_EQ(messages.markers, replay.channels_used(true));
        EXPECT_LE(messages.first_use_markers, replay.channels_first_used());
        EXPECT_EQ(messages.requests + messages.over,
                  scenario.job.ranks + (stagger && messages.markers > 0
                                            ? 1U
                                            : scenario.job.ranks));
        EXPECT_GE(messages.ends, scenario.job.ranks);
        EXPECT_EQ(messages.saved + messages.resumed + messages.counts +
                      messages.logged,
                  4U * scenario.job.ranks);
    }
}

TEST_P(Patterns, SweepingTakesThoseOfTheMesh)
{
    for (unsigned dimensions : {0, 1, 2, 3}) {
        for (Rank nodes : {1, 8, 9, 13}) {
            Scenario scenario = small_scenario(nodes * 4);
            scenario.protocol = Protocol::network_sweep;
            scenario.checkpoint.dimensions = dimensions;
            scenario.checkpoint.stagger = dimensions % 2 == 1;
            Replay replay(scenario.job.ranks);
            const MessageCounts messages =
                run(scenario, GetParam(), &replay).messages;
            const auto mesh = dimensions == 0
                                  ? SweepTopology::hypercube(nodes)
                                  : SweepTopology::cube(nodes, dimensions);
            EXPECT_EQ(messages.sweep, mesh.count_messages().between_nodes);
            EXPECT_LE(messages.first_use_markers, replay.channels_used(false));
            EXPECT_EQ(messages.first_use_markers > 0,
                      replay.channels_used(false) > 0);
            EXPECT_EQ(messages.ends, nodes);
            EXPECT_EQ(messages.requests,
                      scenario.checkpoint.stagger ? 1U : nodes);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Simulator, Patterns,
                         testing::ValuesIn(pattern_names()));

TEST(Counts, OfChapter2)
{
    Scenario scenario = small_scenario(64);
    scenario.job.ranks_per_node = 1;
    scenario.protocol = Protocol::network_sweep;
    EXPECT_EQ(run(scenario, "ring").messages.sweep, 64U * 6); /* n log n */
    scenario.checkpoint.dimensions = 2;
    EXPECT_EQ(run(scenario, "ring").messages.sweep, 2U * 7 * 8 * 2);

    scenario.protocol = Protocol::chandy_lamport;
    EXPECT_EQ(run(scenario, "all-to-all").messages.markers, 64U * 63);
    EXPECT_EQ(run(scenario, "ring").messages.markers, 64U);
    EXPECT_EQ(run(scenario, "wildcard").messages.markers, 2U * 63);
    EXPECT_EQ(run(scenario, "collective").messages.markers, 0U);
}

/* The replay itself detects a log that lacks a message. */
TEST(Replayed, LogsThatAreWrongAreSeen)
{
    static Log too_short;
    static Replay *replayed;
    Scenario scenario = small_scenario();
    scenario.protocol = Protocol::network_sweep;
    scenario.checkpoint.stagger = true;
    Replay replay(scenario.job.ranks);
    too_short = run(scenario, "ring", &replay).log;
    EXPECT_TRUE(replay.goes_on_meanwhile());
    ASSERT_GT(too_short.messages--, 0U);
    replayed = &replay;
    EXPECT_NONFATAL_FAILURE(replayed->expect_complete(too_short),
                            "log.messages");
}

TEST(Staggering, SpreadsTheSavesOverAFileSystem)
{
    for (const auto &[name, protocol] : protocol_names) {
        SCOPED_TRACE(name);
        Scenario scenario = small_scenario();
        scenario.protocol = protocol;
        const Result together = run(scenario, "ring");
        scenario.checkpoint.stagger = true;
        const Result apart = run(scenario, "ring");
        EXPECT_EQ(together.most_writers, scenario.job.ranks);
        EXPECT_LE(apart.most_writers, scenario.job.ranks / 4);

        const auto most = [](const Result &result) {
            return *std::max_element(result.stop_times.begin(),
                                     result.stop_times.end());
        };
        const Seconds one = scenario.job.image_bytes / scenario.job.bandwidth;
        EXPECT_NEAR(most(together), scenario.job.ranks * one, one);
        if (protocol != Protocol::sync_and_stop) { /* no rank runs there */
            EXPECT_LE(most(apart), most(together) / 4);
        }
        EXPECT_GE(apart.times.commit, scenario.job.ranks * one);
    }
}

TEST(Staggering, LogsMore)
{
    Scenario scenario = small_scenario();
    scenario.protocol = Protocol::chandy_lamport;
    const Result together = run(scenario, "ring");
    scenario.checkpoint.stagger = true;
    EXPECT_GT(run(scenario, "ring").log.messages, together.log.messages);
}

TEST(Writers, OneAfterTheOtherHalveTheTimeOfTheMiddleOne)
{
    for (const auto &[name, protocol] : protocol_names) {
        SCOPED_TRACE(name);
        Scenario scenario = small_scenario();
        scenario.protocol = protocol;
        const Result before = run(scenario, "ring");
        scenario.checkpoint.writers = 1;
        scenario.job.closing = 3;
        Result result = run(scenario, "ring");
        EXPECT_EQ(result.most_writers, 1U);
        EXPECT_NEAR(result.times.commit, before.times.commit + 3, 0.01);

        const Seconds one = scenario.job.image_bytes / scenario.job.bandwidth;
        std::sort(result.stop_times.begin(), result.stop_times.end());
        EXPECT_NEAR(result.stop_times.front(), one, one / 2);
        EXPECT_NEAR(result.stop_times[scenario.job.ranks / 2],
                    scenario.job.ranks * one / 2, 2 * one);
    }
}

TEST(SharedDisk, DividesItsBandwidth)
{
    struct Clock : EventHandler {
        void handle(const Event &event) override
        {
            disk->write(event.one);
        }
        SharedDisk *disk = nullptr;
    } clock;
    EventQueue queue;
    std::map<Rank, Seconds> done;
    SharedDisk disk(queue, 100, 10, 0,
                    [&](Rank rank) { done[rank] = queue.now(); });
    clock.disk = &disk;
    queue.schedule(0, clock, 0, 0);
    queue.schedule(5, clock, 0, 1); /* rank 0 has 50 left, at half the speed */
    while (queue.step()) {
    }
    EXPECT_DOUBLE_EQ(done[0], 15);
    EXPECT_DOUBLE_EQ(done[1], 20);
    EXPECT_EQ(disk.most_writers(), 2U);
}

TEST(ClosedForm, IsUsedForTheApplicationOnly)
{
    Scenario scenario = small_scenario(4096);
    scenario.job.ranks_per_node = 16;
    scenario.checkpoint.uniform = 5;
    for (bool stagger : {false, true}) {
        scenario.checkpoint.stagger = stagger;
        scenario.protocol = Protocol::chandy_lamport;
        EXPECT_EQ(run(scenario, "all-to-all").messages.markers, 4096U * 4095);
        scenario.protocol = Protocol::network_sweep;
        EXPECT_EQ(run(scenario, "all-to-all").messages.sweep, 256U * 8);
        scenario.protocol = Protocol::sync_and_stop;
        EXPECT_EQ(run(scenario, "all-to-all").messages.saved, 4096U);
    }
}

Result run_trace(const std::string &text, Scenario scenario, Recorder *recorder)
{
    std::istringstream lines(text);
    auto program = read_trace(lines, scenario.job);
    return simulate(scenario, *program, recorder);
}

const std::string trace = R"({"ranks": 2}
{"rank": 0, "time": 0.001, "send": 1, "bytes": 10}
{"rank": 1, "time": 0.004, "begin": 0.004, "receive": 0}
{"rank": 1, "time": 0.005, "send": 0, "bytes": 20}
{"rank": 0, "time": 0.006, "receive": 1, "any": true}
{"rank": 0, "time": 0.007, "collective": true}
{"rank": 1, "time": 0.007, "begin": 0.0065, "collective": true}
)";

TEST(Traces, AreReplayed)
{
    Scenario scenario = small_scenario();
    scenario.protocol = Protocol::chandy_lamport;
    scenario.at = 0.002;
    Replay replay(2);
    scenario.job.ranks = 2;
    const Result result = run_trace(trace, scenario, &replay);
    EXPECT_EQ(result.log.messages, 1U);
    EXPECT_EQ(result.log.bytes, 10U) << "sent at 1 ms, received at 4 ms";
    EXPECT_EQ(result.messages.markers, 1U);
    replay.expect_complete(result.log);
}

TEST(Traces, ThatAreWrongAreRefused)
{
    JobModel job;
    for (const char *text :
         {"", "{}", "nonsense", "{\"ranks\": 2}\n{\"rank\": 2, \"time\": 1}",
          "{\"ranks\": 2}\n{\"rank\": 0, \"time\": 1}",
          "{\"ranks\": 2}\n{\"rank\": 0, \"time\": 1, \"receive\": 1}",
          "{\"ranks\": 2}\n{\"rank\": 0, \"time\": 1, \"send\": 9}",
          "{\"ranks\": 1}\n{\"rank\": 0, \"time\": 1, \"send\": 0}\n"
          "{\"rank\": 0, \"time\": 0.5, \"send\": 0}"}) {
        std::istringstream lines(text);
        EXPECT_THROW(read_trace(lines, job), Error) << text;
    }
}

TEST(Simulation, RefusesJobsWithoutSense)
{
    Scenario scenario = small_scenario();
    scenario.job.ranks_per_node = 0;
    EXPECT_THROW(run(scenario, "ring"), Error);
    EXPECT_THROW(make_pattern("spiral", JobModel(), {}), Error);
}

} // namespace

} // namespace ckpt::simulator
