/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_text.cpp - formats the trace of a checkpoint as tables.
 */
#include "config.h"
#include "cli/jobs/trace_text.hpp"

#include "cli/base/table.hpp"
#include "common/durations.hpp"
#include "diagram/rank_history.hpp"
#include "diagram/space_time.hpp"
#include "protocol/message_purpose.hpp"
#include "protocol/sweep_topology.hpp"

#include "ckpt/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ckpt::cli
{

namespace
{

using diagram::RankHistory;

std::string time_text(std::int64_t nanoseconds)
{
    return nanoseconds == unknown_time
               ? "-"
               : format_seconds(static_cast<double>(nanoseconds) * 1e-9);
}

/* Returns the name of the rank's node, or "-". */
std::string host_of(const CheckpointTrace &trace, int rank)
{
    int node = trace.node_of(rank);
    return node < 0 ? "-" : trace.nodes[static_cast<std::size_t>(node)].host;
}

std::string summary_text(const CheckpointTrace &trace,
                         const std::vector<RankHistory> &histories)
{
    std::int64_t end = diagram::end_of(trace);
    std::int64_t first = unknown_time, last = unknown_time, longest = 0;

    for (const RankHistory &history : histories) {
        longest = std::max(longest, history.stood_still(end));
        if (history.cut != unknown_time) {
            first = first == unknown_time ? history.cut
                                          : std::min(first, history.cut);
            last = std::max(last, history.cut);
        }
    }
    std::string text = fmt::format(
        "checkpoint   {}/{}\nprotocol     {}, {}, {}\n"
        "requested    {}\n",
        trace.job, trace.number, diagram::protocol_title(trace.protocol),
        counted(trace.rank_count, "rank"), counted(trace.nodes.size(), "node"),
        format_time(trace.requested));
    text += fmt::format("cut          {} to {} after the request\n"
                        "stood still  {} at most\nend          {}\n",
                        time_text(first), time_text(last), time_text(longest),
                        time_text(end));
    for (const Refusal &refusal : trace.refusals) {
        text += fmt::format("given up     {}\n", refusal.text());
    }
    if (trace.left_out > 0) {
        text += fmt::format("left out     {} events", trace.left_out);
        text += trace.every == 1 ? "\n"
                                 : fmt::format("; every {}th rank has its own\n",
                                               trace.every);
    }
    return text;
}

std::string ranks_text(const CheckpointTrace &trace,
                       const std::vector<RankHistory> &histories)
{
    Table table({"RANK", "NODE", "ASKED", "ANSWERED AFTER", "CUT", "CAPTURED",
                 "STOOD STILL"});
    std::int64_t end = diagram::end_of(trace);

    for (const RankHistory &history : histories) {
        bool answered = history.requested != unknown_time &&
                        history.reported != unknown_time;
        table.add({std::to_string(history.rank), host_of(trace, history.rank),
                   time_text(history.requested),
                   time_text(answered ? history.reported - history.requested
                                      : unknown_time),
                   time_text(history.cut), time_text(history.captured),
                   time_text(history.stood_still(end))});
    }
    return table.text();
}

/* ---- Messages ------------------------------------------------------------ */

void add_purpose(Table &table, const CheckpointTrace &trace,
                 const MessagePurpose &purpose)
{
    std::uint64_t sum = 0;
    std::string names;

    for (ckpt_message_type type : purpose.types) {
        std::uint64_t count = trace.totals.of(type);
        if (count > 0) {
            names += fmt::format("{}{} {}", names.empty() ? "" : ", ", count,
                                 message_format(type)->name);
        }
        sum += count;
    }
    std::string formula = "-";
    if (purpose.per_rank > 0) {
        formula = fmt::format(
            "{} n = {}", purpose.per_rank,
            purpose.per_rank * static_cast<std::uint64_t>(trace.rank_count));
    }
    table.add({purpose.name, std::to_string(sum), formula, names});
}

void add_markers(Table &table, const CheckpointTrace &trace)
{
    auto n = static_cast<std::uint64_t>(trace.rank_count);
    std::string most = fmt::format("n (n - 1) = {} at most", n * (n - 1));

    if (trace.protocol == "cl") {
        table.add({"markers", std::to_string(trace.totals.markers), most,
                   "on channels used before the cut"});
    } else {
        auto nodes = static_cast<std::uint32_t>(trace.nodes.size());
        std::string formula = "-";
        if (!trace.sides.empty()) {
            SweepTopology mesh(nodes, trace.sides);
            formula = fmt::format("{} for {} nodes in a {}",
                                  mesh.count_messages().between_nodes, nodes,
                                  mesh.name());
        }
        table.add({"sweep", std::to_string(trace.totals.sweep), formula,
                   "between nodes"});
    }
    table.add({"first use", std::to_string(trace.totals.first_use_markers),
               most, "markers before a first message"});
}

std::string messages_text(const CheckpointTrace &trace)
{
    Table table({"SENT FOR", "COUNT", "FORMULA", "MESSAGES"});
    bool stops = trace.protocol == "sns";

    for (const MessagePurpose &purpose : message_purposes(trace.protocol)) {
        add_purpose(table, trace, purpose);
    }
    if (!stops) {
        add_markers(table, trace);
    }
    std::string text = table.text();
    if (!stops) {
        text += fmt::format("logged: {} messages that crossed the cut, {}\n",
                            trace.totals.logged,
                            format_bytes(trace.totals.logged_bytes));
    }
    return text;
}

} // namespace

std::string trace_text(const CheckpointTrace &trace)
{
    std::vector<RankHistory> histories = diagram::rank_histories(trace);

    return summary_text(trace, histories) + "\n" +
           ranks_text(trace, histories) + "\n" + messages_text(trace);
}

} // namespace ckpt::cli
