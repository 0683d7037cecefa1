/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_history.cpp - the events of one rank in a trace.
 */
#include "config.h"
#include "diagram/rank_history.hpp"

#include <algorithm>
#include <map>

namespace ckpt::diagram
{

namespace
{

void note_first(std::int64_t &time, std::int64_t now)
{
    if (time == unknown_time) {
        time = now;
    }
}

void note(RankHistory &history, const TraceEvent &event)
{
    bool stands = !history.stops.empty() &&
                  history.stops.back().to == unknown_time;

    switch (event.kind) {
    case TraceKind::order:
        note_first(history.requested, event.at);
        break;
    case TraceKind::answer:
        note_first(history.reported, event.at);
        break;
    case TraceKind::stopped:
        if (!stands) {
            history.stops.push_back({event.at, unknown_time});
        }
        break;
    case TraceKind::resumed:
        if (stands) {
            history.stops.back().to = event.at;
        }
        break;
    case TraceKind::cut:
        history.cut = event.at;
        break;
    case TraceKind::captured:
        history.captured = event.at;
        break;
    default:
        break;
    }
}

bool is_of_one_rank(TraceKind kind)
{
    return kind <= TraceKind::captured;
}

} // namespace

std::int64_t RankHistory::stood_still(std::int64_t end) const
{
    std::int64_t sum = 0;
    for (const Stop &stop : stops) {
        sum += (stop.to == unknown_time ? end : stop.to) - stop.from;
    }
    return sum;
}

std::vector<RankHistory> rank_histories(const CheckpointTrace &trace)
{
    std::map<int, RankHistory> by_rank;

    for (const TraceEvent &event : trace.events) {
        if (is_of_one_rank(event.kind)) {
            int rank = std::max(event.from, event.to); /* the other is -1 */
            RankHistory &history = by_rank[rank];
            history.rank = rank;
            note(history, event);
        }
    }
    std::vector<RankHistory> histories;
    for (auto &[rank, history] : by_rank) {
        histories.push_back(std::move(history));
    }
    return histories;
}

std::int64_t end_of(const CheckpointTrace &trace)
{
    std::int64_t end = 0;
    for (const TraceEvent &event : trace.events) {
        end = std::max({end, event.at, event.arrived});
    }
    return end;
}

} // namespace ckpt::diagram
