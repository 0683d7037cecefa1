/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_trace.cpp - the record of a checkpoint: what the recorder keeps, within
 * which limits, and the file trace.json.
 */
#include "config.h"
#include "agent/coordinator/trace_recorder.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "protocol/rank_message.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace
{

using std::chrono::nanoseconds;

/* The request, at no round number. */
const TraceRecorder::Time start{nanoseconds(123'456'789)};

TraceRecorder::Time at(std::int64_t time)
{
    return start + nanoseconds(time);
}

action::Send order(int rank, ckpt_message_type type)
{
    return {rank, type, false, {}, ""};
}

ckpt_message stopped()
{
    ckpt_message message = make_message(CKPT_MSG_STOPPED, 1);
    message.as.report.place = CKPT_PLACE_WAIT;
    message.as.report.holds = 1;
    return message;
}

/* channels: used before the cut, if the rank was cut. */
ckpt_message ready(std::uint64_t channels = 0)
{
    ckpt_message message = make_message(CKPT_MSG_READY, 1);
    message.as.ready.snapshot = 0x7fff0000;
    message.as.ready.flags = CKPT_READY_LEADS_OUT;
    message.as.ready.cut = {CKPT_CUT_MARKERS, channels, 0};
    return message;
}

TraceEvent half_marker(int from, int to, std::int64_t sent,
                       std::int64_t arrived, std::uint64_t count)
{
    TraceEvent event;
    event.kind = TraceKind::marker;
    event.from = from;
    event.to = to;
    event.at = sent;
    event.arrived = arrived;
    event.value = count;
    return event;
}

std::vector<TraceNode> one_node(int rank_count)
{
    return {{"a", {{0, rank_count - 1}}, 0, 0}};
}

std::vector<TraceEvent> of_kind(const CheckpointTrace &trace, TraceKind kind)
{
    std::vector<TraceEvent> found;
    std::ranges::copy_if(
        trace.events, std::back_inserter(found),
        [kind](const TraceEvent &event) { return event.kind == kind; });
    return found;
}

/* One rank's part of Sync-and-Stop. */
void save_rank(TraceRecorder &recorder, int rank, std::int64_t time)
{
    recorder.ordered(order(rank, CKPT_MSG_STOP), at(time));
    recorder.answered(rank, stopped(),
                      at(time + 1));
    recorder.stands_still(rank, true, at(time + 1));
    recorder.answered(rank, ready(), at(time + 2));
    recorder.answered(rank, ready(), at(time + 3));
    recorder.stands_still(rank, true, at(time + 3));
    recorder.captured(rank, at(time + 4));
    recorder.ordered(order(rank, CKPT_MSG_RESUME), at(time + 5));
    recorder.stands_still(rank, false, at(time + 5));
}

TEST(TraceRecorder, TakesTheLastReadyAsTheCut)
{
    TraceRecorder recorder;
    recorder.begin("sns", 1, one_node(1), start);
    save_rank(recorder, 0, 100);
    CheckpointTrace trace = recorder.finish("job", 7);

    auto cuts = of_kind(trace, TraceKind::cut);
    ASSERT_EQ(cuts.size(), 1u);
    EXPECT_EQ(cuts[0].from, 0);
    EXPECT_EQ(cuts[0].at, 103);
    EXPECT_EQ(of_kind(trace, TraceKind::captured).at(0).at, 104);
    auto stopped = of_kind(trace, TraceKind::stopped);
    ASSERT_EQ(stopped.size(), 1u) << "told twice";
    EXPECT_EQ(stopped[0].at, 101);
    EXPECT_EQ(of_kind(trace, TraceKind::resumed).at(0).at, 105);
    EXPECT_EQ(trace.totals.of(CKPT_MSG_READY), 2u);
    EXPECT_EQ(trace.totals.of(CKPT_MSG_STOP), 1u);
    EXPECT_EQ(trace.totals.of(CKPT_MSG_DRAIN), 0u);
    EXPECT_TRUE(std::ranges::is_sorted(trace.events, {}, &TraceEvent::time));
}

TEST(TraceRecorder, KeepsNoAddressAndNoOtherMessage)
{
    TraceRecorder recorder;
    recorder.begin("cl", 1, one_node(1), start);
    recorder.answered(0, ready(12), at(1));
    recorder.answered(0, make_message(CKPT_MSG_HELLO, 1), at(2));
    CheckpointTrace trace = recorder.finish("job", 1);
    ASSERT_EQ(trace.events.size(), 1u);
    EXPECT_EQ(trace.events[0].value, 12u);
}

TEST(TraceRecorder, BringsTimesOfOtherNodesToItsOwnClock)
{
    constexpr std::int64_t offset = -5'000'000'000;
    TraceRecorder recorder;
    recorder.begin("cl", 2, {{"a", {{0, 0}}, 0, 0}, {"b", {{1, 1}}, offset, 9}},
                   start);
    std::int64_t ours = start.time_since_epoch().count();

    /* The receiver's half comes first, and does not know the count. */
    recorder.seen_on(1, half_marker(0, 1, unknown_time, ours + 70 - offset, 0));
    recorder.seen_on(0, half_marker(0, 1, ours + 50, unknown_time, 12));
    recorder.seen_on(0, half_marker(1, 0, unknown_time, ours + 80, 3));
    CheckpointTrace trace = recorder.finish("job", 1);

    auto markers = of_kind(trace, TraceKind::marker);
    ASSERT_EQ(markers.size(), 2u);
    EXPECT_EQ(markers[0].at, 50);
    EXPECT_EQ(markers[0].arrived, 70);
    EXPECT_EQ(markers[0].value, 12u);
    EXPECT_EQ(markers[1].at, unknown_time);
    EXPECT_EQ(markers[1].arrived, 80);
    EXPECT_EQ(trace.totals.markers, 1u) << "counted where it was sent";
}

TEST(TraceRecorder, PrefersTheCutThatTheRankTells)
{
    TraceRecorder recorder;
    recorder.begin("cl", 1, one_node(1), start);
    recorder.answered(0, ready(), at(30));
    TraceEvent cut;
    cut.kind = TraceKind::cut;
    cut.from = 0;
    cut.at = start.time_since_epoch().count() + 20;
    recorder.seen_on(0, cut);
    recorder.captured(0, at(40));
    auto cuts = of_kind(recorder.finish("job", 1), TraceKind::cut);
    ASSERT_EQ(cuts.size(), 1u);
    EXPECT_EQ(cuts[0].at, 20);
}

/* The report of rank `rank` on its cut, and on two more events. */
RankSeen seen_by(std::int64_t cut, ckpt_seen one, ckpt_seen two)
{
    RankSeen seen;
    auto base = static_cast<std::uint64_t>(start.time_since_epoch().count());

    seen.events = {{static_cast<std::uint64_t>(cut), 0, CKPT_SEEN_CUT, -1},
                   one,
                   two};
    for (ckpt_seen &event : seen.events) {
        event.at += base;
        if (event.kind < CKPT_SEEN_KINDS) {
            seen.counts[event.kind]++;
        }
        seen.logged_bytes += event.kind == CKPT_SEEN_LOGGED ? event.value : 0;
    }
    return seen;
}

TEST(TraceRecorder, TakesWhatRanksHaveSeen)
{
    TraceRecorder recorder;
    recorder.begin("cl", 2, {{"a", {{0, 0}}, 0, 0}, {"b", {{1, 1}}, 0, 0}},
                   start);
    for (int rank : {0, 1}) {
        recorder.answered(rank, ready(1), at(30));
        recorder.captured(rank, at(40));
    }
    recorder.seen_by(0,
                     seen_by(20, {21, 7, CKPT_SEEN_MARKER_SENT, 1},
                             {50, 0, CKPT_SEEN_MARKER_RECEIVED, 1}),
                     {});
    recorder.seen_by(1,
                     seen_by(25, {26, 0, CKPT_SEEN_FIRST_USE_SENT, 0},
                             {33, 900, CKPT_SEEN_LOGGED, 0}),
                     {1000, 4});
    CheckpointCost cost = recorder.cost();
    CheckpointTrace trace = recorder.finish("job", 1);

    auto cuts = of_kind(trace, TraceKind::cut);
    ASSERT_EQ(cuts.size(), 2u) << "not where they said READY, too";
    EXPECT_EQ(cuts[0].at, 20);
    EXPECT_EQ(cuts[1].at, 1025);
    EXPECT_EQ(trace.nodes[1].clock_offset, 1000);
    EXPECT_EQ(trace.nodes[1].clock_error, 4);
    auto markers = of_kind(trace, TraceKind::marker);
    ASSERT_EQ(markers.size(), 2u) << "halves are joined";
    EXPECT_EQ(markers[1].arrived, 50);
    EXPECT_TRUE(markers[1].first_use);
    EXPECT_EQ(of_kind(trace, TraceKind::logged).at(0).arrived, 1033);
    EXPECT_EQ(cost.channels, 2u);
    EXPECT_EQ(cost.markers, 1u);
    EXPECT_EQ(cost.first_use_markers, 1u);
    EXPECT_EQ(cost.cross_cut_messages, 1u);
    EXPECT_EQ(cost.cross_cut_bytes, 900u);
    EXPECT_EQ(cost.messages.at("cut"), 2u);
}

/* The agents of a sweep report it, each its own end. */
TEST(TraceRecorder, TakesWhatAgentsHaveSeenOfTheSweep)
{
    TraceRecorder recorder;
    recorder.begin("ns", 2, {{"a", {{0, 0}}, 0, 0}, {"b", {{1, 1}}, 0, 0}},
                   start);
    const std::int64_t base = start.time_since_epoch().count();
    RankSeen one, other;
    one.sweep = {{0, 1, 0, true, base + 10}, {1, 0, 0, false, base + 35}};
    other.sweep = {{1, 0, 0, true, base - 970},
                   {0, 1, 0, false, base - 980},
                   {0, 2, 0, false, base - 980}}; /* no such node */
    recorder.seen_by(0, one, {});
    recorder.seen_by(1, other, {1000, 4});
    EXPECT_EQ(recorder.cost().sweep, 2u);
    EXPECT_EQ(recorder.cost().channels, 0u);
    auto messages = of_kind(recorder.finish("job", 1), TraceKind::sweep);
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].at, 10);
    EXPECT_EQ(messages[0].arrived, 20);
    EXPECT_EQ(messages[1].at, 30);
    EXPECT_EQ(messages[1].arrived, 35);
}

TEST(TraceRecorder, CountsWhatRanksHadNoRoomFor)
{
    TraceRecorder recorder;
    recorder.begin("cl", 2, one_node(2), start);
    RankSeen seen = seen_by(20, {21, 7, CKPT_SEEN_MARKER_SENT, 1},
                            {33, 900, CKPT_SEEN_LOGGED, 1});
    seen.counts[CKPT_SEEN_MARKER_SENT] = 5;
    seen.counts[CKPT_SEEN_MARKER_RECEIVED] = 2;
    seen.counts[CKPT_SEEN_LOGGED] = 11;
    seen.logged_bytes = 9000;
    recorder.seen_by(0, seen, {});
    CheckpointTrace trace = recorder.finish("job", 1);

    EXPECT_EQ(trace.totals.markers, 5u);
    EXPECT_EQ(trace.totals.logged, 11u);
    EXPECT_EQ(trace.totals.logged_bytes, 9000u);
    EXPECT_EQ(trace.left_out, 4u + 2u + 10u);
}

TEST(TraceRecorder, BelievesNoRankThatIsNotThere)
{
    TraceRecorder recorder;
    recorder.begin("cl", 2, one_node(2), start);
    recorder.seen_by(0,
                     seen_by(20, {21, 7, CKPT_SEEN_MARKER_SENT, 2},
                             {33, 900, CKPT_SEEN_LOGGED, -1}),
                     {});
    recorder.seen_by(1, seen_by(20, {21, 7, 99, 0}, {22, 7, 5, 0}), {});
    EXPECT_EQ(recorder.finish("job", 1).events.size(), 2u) << "the cuts";
}

TEST(TraceRecorder, AddsUpHowLongEachRankStandsStill)
{
    TraceRecorder recorder;
    recorder.begin("sns", 3, one_node(3), start);
    for (int rank = 0; rank < 3; rank++) {
        recorder.stands_still(rank, true, at(100));
        recorder.stands_still(rank, false, at(200 + 100 * rank));
    }
    recorder.stands_still(0, true, at(1000)); /* up to the commit */
    recorder.commit(at(1500));
    StopTimes times = recorder.cost().stood_still;
    EXPECT_NEAR(times.least, 200e-9, 1e-12);
    EXPECT_NEAR(times.median, 300e-9, 1e-12);
    EXPECT_NEAR(times.most, 600e-9, 1e-12);
}

TEST(ClockProbe, TakesTheShortestRoundTrip)
{
    ClockProbe probe;
    probe.begin();
    EXPECT_TRUE(probe.answered(1000, 500, 1200));
    EXPECT_EQ(probe.best().nanoseconds, 600);
    EXPECT_EQ(probe.best().error, 100);
    EXPECT_TRUE(probe.answered(2000, 1430, 2020));
    EXPECT_EQ(probe.best().nanoseconds, 580);
    EXPECT_TRUE(probe.answered(3000, 2000, 9000));
    EXPECT_FALSE(probe.answered(4000, 2000, 9001));
    EXPECT_EQ(probe.best().error, 10);
    probe.begin();
    EXPECT_EQ(probe.best().error, 10) << "until there is a newer one";
    probe.answered(5000, 0, 5050);
    EXPECT_EQ(probe.best().nanoseconds, 5025);
}

TEST(TraceRecorder, JoinsSweepMessagesOfEachDimension)
{
    TraceRecorder recorder;
    recorder.begin("ns", 2, {{"a", {{0, 0}}, 0, 0}, {"b", {{1, 1}}, 0, 0}},
                   start);
    recorder.set_sides({2});
    recorder.set_refusals({{CKPT_REFUSAL_NEEDS_STOP, "rank 1: it has a window"}});
    for (std::uint64_t dimension = 0; dimension < 2; dimension++) {
        for (std::int64_t time : {unknown_time, std::int64_t{1000}}) {
            TraceEvent event = half_marker(
                0, 1, time, time == unknown_time ? 2000 : unknown_time,
                dimension);
            event.kind = TraceKind::sweep;
            recorder.seen_on(0, event);
        }
    }
    CheckpointTrace trace = recorder.finish("job", 1);
    EXPECT_EQ(of_kind(trace, TraceKind::sweep).size(), 2u);
    EXPECT_EQ(trace.totals.sweep, 2u);
    EXPECT_EQ(trace.sides, std::vector<std::uint32_t>{2});
}

TEST(TraceRecorder, KeepsWholeHistoriesOfFewerRanks)
{
    constexpr int count = 1000;
    constexpr std::size_t each = 9; /* events of save_rank() */
    TraceRecorder recorder(1200);   /* for 133 ranks */
    recorder.begin("sns", count, one_node(count), start);
    for (int rank = 0; rank < count; rank++) {
        save_rank(recorder, rank, 10 * rank);
    }
    recorder.commit(at(10 * count));
    CheckpointTrace trace = recorder.finish("job", 1);

    EXPECT_EQ(trace.every, 8);
    EXPECT_EQ(trace.events.size(), each * (count / 8) + 1);
    EXPECT_EQ(trace.left_out, each * (count - count / 8));
    for (int rank = 0; rank < count; rank += 8) {
        EXPECT_EQ(std::ranges::count(of_kind(trace, TraceKind::cut), rank,
                                     &TraceEvent::from),
                  1);
    }
    EXPECT_EQ(trace.totals.of(CKPT_MSG_READY), 2u * count) << "all count";
}

TEST(TraceRecorder, DropsTheOlderHalfOfWhatIsMostFrequent)
{
    TraceRecorder recorder(10);
    recorder.begin("sns", 2, one_node(2), start);
    recorder.ordered(order(0, CKPT_MSG_REQUEST), at(0));
    for (int i = 1; i <= 12; i++) {
        recorder.ordered(order(0, CKPT_MSG_RUN), at(i));
    }
    recorder.commit(at(13));
    CheckpointTrace trace = recorder.finish("job", 1);

    EXPECT_EQ(trace.events.front().type, CKPT_MSG_REQUEST);
    EXPECT_EQ(trace.events.back().kind, TraceKind::commit);
    EXPECT_EQ(trace.events[1].at, 6) << "1 to 5 are the older half of 9";
    EXPECT_EQ(trace.left_out, 5u);
    EXPECT_EQ(trace.totals.of(CKPT_MSG_RUN), 12u);
}

/* ---- The file ------------------------------------------------------------ */

CheckpointTrace example()
{
    TraceRecorder recorder;
    recorder.begin("ns", 3,
                   {{"a", {{0, 0}, {2, 2}}, 0, 0}, {"b", {{1, 1}}, 5, 6}},
                   start);
    recorder.set_sides({2});
    recorder.set_refusals({{CKPT_REFUSAL_NEEDS_STOP, "rank 1: it has a window"}});
    save_rank(recorder, 2, 10);
    TraceEvent event = half_marker(0, 1, 1'000'000'000, 1'000'000'900, 4);
    event.first_use = true;
    recorder.seen_on(0, event);
    event.kind = TraceKind::sweep;
    recorder.seen_on(1, event);
    event.kind = TraceKind::logged;
    event.at = unknown_time;
    recorder.seen_on(1, event);
    recorder.written("b", at(2'000'000'000));
    recorder.commit(at(2'000'000'001));
    return recorder.finish("job", 12);
}

TEST(TraceFile, KeepsEverything)
{
    test::ScratchDirectory scratch;
    CheckpointTrace written = example();
    written.write(scratch.path());
    CheckpointTrace read = CheckpointTrace::load(scratch.path());

    EXPECT_EQ(read.text(), written.text());
    EXPECT_EQ(read.job, "job");
    EXPECT_EQ(read.number, 12u);
    EXPECT_EQ(read.protocol, "ns");
    EXPECT_EQ(read.refusals, written.refusals);
    EXPECT_EQ(read.refusals.at(0).text(), "rank 1: it has a window [needs-stop]");
    EXPECT_EQ(read.node_of(2), 0);
    EXPECT_EQ(read.node_of(1), 1);
    EXPECT_EQ(read.node_of(3), -1);
    EXPECT_EQ(read.nodes[1].clock_offset, 5);
    EXPECT_EQ(read.events.size(), written.events.size());
    EXPECT_EQ(of_kind(read, TraceKind::logged).at(0).at, unknown_time);
    EXPECT_TRUE(of_kind(read, TraceKind::marker).at(0).first_use);
    struct stat status;
    ASSERT_EQ(stat((scratch / "trace.json").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(TraceFile, IsJsonWithNames)
{
    auto json = nlohmann::json::parse(example().text());
    EXPECT_EQ(json["totals"]["messages"]["READY"], 2);
    auto find = [&](const char *member, const char *value) {
        return *std::ranges::find_if(json["events"], [&](const auto &event) {
            return event.value(member, "") == value;
        });
    };
    EXPECT_EQ(find("message", "STOPPED")["place"], CKPT_PLACE_WAIT);
    EXPECT_EQ(find("message", "STOPPED")["holds"], 1);
    EXPECT_EQ(find("kind", "marker")["count"], 4);
    EXPECT_EQ(find("kind", "sweep")["dimension"], 4);
    EXPECT_EQ(find("kind", "logged")["bytes"], 4);
}

/* Returns the error for the text with `from` replaced by `to`. */
std::string error_after(const std::string &from, const std::string &to)
{
    std::string text = example().text();
    text.replace(text.find(from), from.size(), to);
    try {
        CheckpointTrace::parse(text, "trace x");
    } catch (const Error &error) {
        return error.what();
    }
    return "none";
}

TEST(TraceFile, IsCheckedWhenRead)
{
    EXPECT_EQ(error_after("\"format\":1", "\"format\":2"),
              "trace x has version 2 of the format; this program reads "
              "version 1");
    EXPECT_NE(error_after("\"rank_count\":3", "\"rank_count\":2")
                  .find("field 'to' is 2, but there are 2"),
              std::string::npos);
    EXPECT_NE(error_after("\"kind\":\"cut\"", "\"kind\":\"cat\"")
                  .find("unknown kind of event 'cat'"),
              std::string::npos);
    EXPECT_NE(error_after("\"message\":\"STOP\"", "\"message\":\"HOP\"")
                  .find("unknown message 'HOP'"),
              std::string::npos);
    EXPECT_NE(error_after("\"commit\",\"at\"", "\"commit\",\"x\"")
                  .find("it has no time"),
              std::string::npos);
    EXPECT_NE(error_after("\"at\":10,", "\"at\":123456789012345678,")
                  .find("not a time of a checkpoint"),
              std::string::npos);
    EXPECT_NE(error_after("\"every\":1", "\"every\":0").find("impossible"),
              std::string::npos);
}

/* Traces of an earlier version stay readable. */
TEST(TraceFile, FormerNamesOfMessagesAreKnown)
{
    std::string text = example().text();
    const std::string stop = "\"message\":\"STOP\"";
    text.replace(text.find(stop), stop.size(), "\"message\":\"KICK\"");

    const CheckpointTrace trace = CheckpointTrace::parse(text, "trace x");

    EXPECT_NE(trace.text().find("\"message\":\"PROGRESS\""), std::string::npos);
    EXPECT_EQ(trace.text().find("KICK"), std::string::npos);
}

TEST(TraceFile, ThatIsNotThereIsNotFound)
{
    test::ScratchDirectory scratch;
    try {
        CheckpointTrace::load(scratch.path());
        FAIL();
    } catch (const Error &error) {
        EXPECT_EQ(error.code(), ENOENT);
    }
}

} // namespace

} // namespace ckpt
