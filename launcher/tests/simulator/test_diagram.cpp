/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_diagram.cpp - the space-time diagram of a checkpoint.
 *
 * One example in tests/traces is from a real run (Sync-and-Stop), the others
 * are made by hand; docs/consistent-cuts.md shows their diagrams.
 */
#include "config.h"
#include "common/files/files.hpp"
#include "diagram/panel.hpp"
#include "diagram/rank_history.hpp"
#include "diagram/rows.hpp"
#include "diagram/space_time.hpp"
#include "diagram/style.hpp"
#include "diagram/svg.hpp"
#include "diagram/time_axis.hpp"

#include "ckpt/wire.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>

namespace ckpt::diagram
{

namespace
{

constexpr std::int64_t millisecond = 1'000'000;

CheckpointTrace example(const std::string &name)
{
    std::string path = std::string(CKPT_TRACE_DIRECTORY) + "/" + name + ".json";
    return CheckpointTrace::parse(read_text_file(path, "trace"), path);
}

TraceEvent event(TraceKind kind, int from, std::int64_t at)
{
    TraceEvent event;
    event.kind = kind;
    event.from = from;
    event.at = at;
    return event;
}

TraceEvent between(TraceKind kind, int from, int to, std::int64_t at,
                   std::int64_t arrived)
{
    TraceEvent made = event(kind, from, at);
    made.to = to;
    made.arrived = arrived;
    return made;
}

/* `count` ranks, `per_node` on each node, all cut and read. */
CheckpointTrace made_by_hand(int count, int per_node)
{
    CheckpointTrace trace;
    trace.job = "job";
    trace.number = 1;
    trace.protocol = "cl";
    trace.rank_count = count;
    for (int first = 0; first < count; first += per_node) {
        trace.nodes.push_back({fmt::format("node{}", first / per_node),
                               {{first, first + per_node - 1}},
                               0,
                               0});
    }
    for (int rank = 0; rank < count; rank++) {
        std::int64_t cut = (10 + rank % 3) * millisecond;
        trace.events.push_back(event(TraceKind::stopped, rank, cut));
        trace.events.push_back(event(TraceKind::cut, rank, cut));
        trace.events.push_back(
            event(TraceKind::captured, rank, 20 * millisecond));
        trace.events.push_back(
            event(TraceKind::resumed, rank, 21 * millisecond));
    }
    std::ranges::stable_sort(trace.events, {}, &TraceEvent::time);
    return trace;
}

/* Counts the occurrences of a part in a text. */
std::size_t count_of(const std::string &text, std::string_view part)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos;
         at = text.find(part, at + part.size())) {
        count++;
    }
    return count;
}

/* Lines and arrows of this stroke. */
std::size_t lines_of(const std::string &svg, const Stroke &stroke)
{
    std::string end = fmt::format("stroke=\"{}\" stroke-width=\"{:g}\"{}/>",
                                  stroke.colour, stroke.width,
                                  stroke.dashes.empty()
                                      ? ""
                                      : fmt::format(" stroke-dasharray=\"{}\"",
                                                    stroke.dashes));
    std::size_t count = 0;
    for (std::size_t at = svg.find(end); at != std::string::npos;
         at = svg.find(end, at + 1)) {
        count += svg.compare(svg.rfind('<', at), 5, "<line") == 0 ? 1 : 0;
    }
    return count;
}

/* ---- The parts ----------------------------------------------------------- */

std::string labels(std::int64_t from, std::int64_t to)
{
    std::string text;
    TimeAxis axis(from, to, 0, 100);
    for (const TimeAxis::Tick &tick : axis.ticks()) {
        text += (text.empty() ? "" : " ") + tick.label;
    }
    return text + " " + axis.unit();
}

TEST(TimeAxis, HasRoundTicks)
{
    EXPECT_EQ(labels(0, 10 * millisecond), "0 1 2 3 4 5 6 7 8 9 10 ms");
    EXPECT_EQ(labels(-millisecond, 81 * millisecond),
              "0 10 20 30 40 50 60 70 80 ms");
    EXPECT_EQ(labels(0, millisecond * 9 / 10),
              "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 ms");
    EXPECT_EQ(labels(0, 15'000), "0.000 0.002 0.004 0.006 0.008 0.010 0.012 "
                                 "0.014 ms");
    EXPECT_EQ(labels(0, 42'000 * millisecond), "0 5 10 15 20 25 30 35 40 s");
    EXPECT_EQ(labels(0, 1), "0.000000 0.000001 ms");
}

TEST(TimeAxis, IsLinear)
{
    TimeAxis axis(-100, 300, 50, 850);
    EXPECT_DOUBLE_EQ(axis.x(-100), 50);
    EXPECT_DOUBLE_EQ(axis.x(0), 250);
    EXPECT_DOUBLE_EQ(axis.x(300), 850);
    EXPECT_FALSE(axis.has(301));
}

TEST(Svg, EscapesWords)
{
    Svg svg(10, 10, "<a&b>");
    svg.text({1, 2}, "\"x\" < \n&", {});
    std::string text = svg.finish();
    EXPECT_NE(text.find("<title>&lt;a&amp;b&gt;</title>"), std::string::npos);
    EXPECT_NE(text.find(">&quot;x&quot; &lt;  &amp;</text>"),
              std::string::npos);
}

TEST(RankHistory, TellsStopsAndTheLastCut)
{
    CheckpointTrace trace;
    trace.rank_count = 2;
    trace.events = {
        event(TraceKind::stopped, 1, 10), event(TraceKind::resumed, 1, 14),
        event(TraceKind::cut, 1, 20), event(TraceKind::stopped, 1, 21),
        event(TraceKind::cut, 1, 22), event(TraceKind::commit, -1, 50)};
    auto histories = rank_histories(trace);
    ASSERT_EQ(histories.size(), 1u);
    EXPECT_EQ(histories[0].rank, 1);
    EXPECT_EQ(histories[0].cut, 22);
    EXPECT_EQ(histories[0].captured, unknown_time);
    EXPECT_EQ(histories[0].stops.size(), 2u);
    EXPECT_EQ(histories[0].stood_still(end_of(trace)), 4 + 29);
}

TEST(Rows, GroupRanksByNode)
{
    CheckpointTrace trace = made_by_hand(4, 2);
    Rows rows(trace, rank_histories(trace));
    std::vector<std::string> labels;
    for (const Row &row : rows.all()) {
        labels.push_back(row.label);
    }
    EXPECT_EQ(labels, (std::vector<std::string>{"coordinator", "node0",
                                                "rank 0", "rank 1", "node1",
                                                "rank 2", "rank 3"}));
    EXPECT_EQ(rows.of_node(1)->label, "node1");
    EXPECT_EQ(rows.of_rank(2)->label, "rank 2");
    EXPECT_EQ(rows.of_rank(4), nullptr);
}

TEST(Rows, HaveNodeAndItsOnlyRankTogether)
{
    CheckpointTrace trace = made_by_hand(3, 1);
    Rows rows(trace, rank_histories(trace));
    EXPECT_EQ(rows.all().size(), 4u);
    EXPECT_EQ(rows.of_node(2), rows.of_rank(2));
    EXPECT_EQ(rows.of_rank(2)->label, "node2, rank 2");
}

TEST(Rows, ShortenLongNamesBetweenCharacters)
{
    CheckpointTrace trace = made_by_hand(2, 1);
    trace.nodes[0].host = "a-host-with-a-very-long-name";
    trace.nodes[1].host = "a-host-with-a\u00e4\u00e4\u00e4";
    Rows rows(trace, rank_histories(trace));
    EXPECT_EQ(rows.of_rank(0)->label, "a-host-with-a-.., rank 0");
    EXPECT_EQ(rows.of_rank(1)->label, "a-host-with-a.., rank 1");
}

TEST(Rows, ThinOutManyRanks)
{
    CheckpointTrace trace = made_by_hand(1000, 1000);
    Rows rows(trace, rank_histories(trace));
    EXPECT_EQ(rows.rank_count(), 63);
    EXPECT_NE(rows.of_rank(16), nullptr);
    EXPECT_EQ(rows.of_rank(17), nullptr);
}

/* ---- The diagram --------------------------------------------------------- */

TEST(SpaceTime, DrawsTheCutOnceAcrossEachRank)
{
    for (int count : {1, 2, 64}) {
        std::string svg = space_time_diagram(made_by_hand(count, count));
        std::smatch found;
        ASSERT_TRUE(std::regex_search(
            svg, found,
            std::regex("<polyline points=\"([^\"]*)\"[^>]*"
                       "stroke-dasharray=\"5 3\"/>")));
        /* The line extends a little beyond the first and the last rank. */
        EXPECT_EQ(count_of(found[1], ","), count + 2u);
        EXPECT_EQ(count_of(svg, "<polyline"), 1u);
    }
}

TEST(SpaceTime, DrawsEachMessageAndItsEntryInTheLegend)
{
    CheckpointTrace trace = made_by_hand(4, 4);
    auto add = [&](TraceKind kind, int from, int to, std::int64_t at) {
        trace.events.push_back(
            between(kind, from, to, at, 15 * millisecond));
    };
    add(TraceKind::marker, 0, 1, 11 * millisecond);
    add(TraceKind::marker, 0, 2, 11 * millisecond);
    add(TraceKind::marker, 1, 3, 11 * millisecond);
    trace.events.back().first_use = true;
    add(TraceKind::logged, 3, 0, 5 * millisecond);
    add(TraceKind::logged, 3, 0, unknown_time);
    add(TraceKind::logged, 3, 1, unknown_time);

    std::string svg = space_time_diagram(trace);
    EXPECT_EQ(lines_of(svg, style::marker), 2u + 1);
    EXPECT_EQ(lines_of(svg, style::first_use), 1u + 1);
    EXPECT_EQ(lines_of(svg, style::logged), 1u + 1);
    EXPECT_EQ(lines_of(svg, style::logged_unsent), 2u + 1);
    EXPECT_EQ(count_of(svg, "marker with a count"), 1u);
    EXPECT_EQ(count_of(svg, "sweep"), 0u);

    svg = space_time_diagram(made_by_hand(4, 4));
    EXPECT_EQ(count_of(svg, "marker"), 0u);
    EXPECT_EQ(count_of(svg, "logged"), 0u);
}

/* Its other end did not report before the checkpoint's end. */
TEST(SpaceTime, DrawsAStubForAMarkerOfWhichOneEndIsKnown)
{
    auto vertical_lines = [](std::int64_t at, std::int64_t arrived) {
        CheckpointTrace trace = made_by_hand(4, 4);
        trace.events.push_back(
            between(TraceKind::marker, 0, 3, at, arrived));
        const std::string svg = space_time_diagram(trace);
        EXPECT_EQ(lines_of(svg, style::marker), 1u + 1);
        const std::regex line("<line x1=\"([0-9.]+)\" y1=\"[0-9.]+\" "
                              "x2=\"\\1\"[^>]*#0072b2");
        return std::distance(
            std::sregex_iterator(svg.begin(), svg.end(), line),
            std::sregex_iterator());
    };
    EXPECT_EQ(vertical_lines(11 * millisecond, 11 * millisecond), 1);
    EXPECT_EQ(vertical_lines(11 * millisecond, unknown_time), 0);
    EXPECT_EQ(vertical_lines(unknown_time, 11 * millisecond), 0);
}

TEST(SpaceTime, TellsDimensionsOfASweepApart)
{
    std::string svg = space_time_diagram(example("network-sweeping"));
    EXPECT_EQ(lines_of(svg, style::sweep(0)), 4u + 1);
    EXPECT_EQ(lines_of(svg, style::sweep(1)), 4u + 1);
    EXPECT_NE(svg.find("sweep, dimension 1"), std::string::npos);
    EXPECT_NE(svg.find(">node-d</text>"), std::string::npos);
    EXPECT_NE(svg.find("Clocks of the nodes agree within 33.1 us"),
              std::string::npos);
}

TEST(SpaceTime, SaysWhatItDoesNotShow)
{
    CheckpointTrace trace = made_by_hand(128, 128);
    trace.left_out = 17;
    for (int to : {2, 3, 4}) {
        trace.events.push_back(between(TraceKind::marker, 0, to,
                                       11 * millisecond, 12 * millisecond));
    }
    std::string svg = space_time_diagram(trace);
    EXPECT_NE(svg.find("64 of 128 ranks are drawn. 1 message from or to "
                       "others is not. 17 events were too many to be kept."),
              std::string::npos);
}

TEST(SpaceTime, MagnifiesAShortExchange)
{
    CheckpointTrace trace = made_by_hand(2, 2);
    EXPECT_EQ(count_of(space_time_diagram(trace), "[ms]"), 1u);
    trace.events.push_back(event(TraceKind::commit, -1, 300 * millisecond));
    std::string svg = space_time_diagram(trace);
    EXPECT_EQ(count_of(svg, "[ms]"), 2u);
    EXPECT_EQ(count_of(svg, style::magnified), 1u);
}

TEST(SpaceTime, DrawsATraceWithoutEvents)
{
    CheckpointTrace trace = made_by_hand(2, 2);
    trace.events.clear();
    EXPECT_NE(space_time_diagram(trace).find("job/1: Chandy-Lamport, 2 ranks"),
              std::string::npos);
}

/* CKPT_REDRAW=1 redraws the pictures. Look at them. */
TEST(SpaceTime, IsWhatTheDocumentationShows)
{
    for (const char *name :
         {"sync-and-stop", "chandy-lamport", "network-sweeping"}) {
        std::string svg = space_time_diagram(example(name));
        std::string path =
            std::string(CKPT_DOCS_DIRECTORY) + "/cut-" + name + ".svg";
        if (std::getenv("CKPT_REDRAW") != nullptr) {
            std::ofstream(path) << svg;
        }
        EXPECT_TRUE(svg == read_text_file(path, "picture"))
            << path << " is out of date: run this test with CKPT_REDRAW=1";
    }
}

} // namespace

} // namespace ckpt::diagram
