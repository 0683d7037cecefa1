/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_recorder.cpp - records the events of one checkpoint, within bounds.
 */
#include "config.h"
#include "agent/coordinator/trace_recorder.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "protocol/message_purpose.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::nanoseconds;

bool is_between_ranks(TraceKind kind)
{
    return kind == TraceKind::marker || kind == TraceKind::logged;
}

bool is_of_nodes(TraceKind kind)
{
    return kind == TraceKind::sweep || kind == TraceKind::written ||
           kind == TraceKind::commit;
}

/* Events that both sender and receiver report; name_of() identifies them. */
bool has_halves(TraceKind kind)
{
    return kind == TraceKind::marker || kind == TraceKind::sweep;
}

std::tuple<TraceKind, int, int, std::uint64_t> name_of(const TraceEvent &event)
{
    bool sweep = event.kind == TraceKind::sweep;
    return {event.kind, event.from, event.to, sweep ? event.value : 0};
}

/* Whether the sender has reported one, and the receiver the other. */
bool are_halves(const TraceEvent &one, const TraceEvent &other)
{
    auto is_sent = [](const TraceEvent &event) {
        return event.arrived == unknown_time;
    };
    auto is_arrived = [](const TraceEvent &event) {
        return event.at == unknown_time;
    };
    return name_of(one) == name_of(other) &&
           ((is_sent(one) && is_arrived(other)) ||
            (is_arrived(one) && is_sent(other)));
}

/* Converts an event that rank `rank` has recorded, in CLOCK_MONOTONIC of its node. */
TraceEvent event_of(int rank, const ckpt_seen &seen)
{
    const bool has_come = seen.kind == CKPT_SEEN_MARKER_RECEIVED ||
                          seen.kind == CKPT_SEEN_LOGGED;
    TraceEvent event;

    event.kind = seen.kind == CKPT_SEEN_CUT      ? TraceKind::cut
                 : seen.kind == CKPT_SEEN_LOGGED ? TraceKind::logged
                                                 : TraceKind::marker;
    event.first_use = seen.kind == CKPT_SEEN_FIRST_USE_SENT;
    event.from = has_come ? seen.peer : rank;
    event.to = has_come ? rank : seen.peer;
    event.value = seen.value;
    (has_come ? event.arrived : event.at) = static_cast<std::int64_t>(seen.at);
    return event;
}

TraceEvent event_of(const SweepSeen &seen)
{
    TraceEvent event;

    event.kind = TraceKind::sweep;
    event.from = static_cast<std::int32_t>(seen.from);
    event.to = static_cast<std::int32_t>(seen.to);
    event.value = seen.dimension;
    (seen.sent ? event.at : event.arrived) = seen.at;
    return event;
}

/* Returns the two fields of a message that message_format() names. */
std::pair<std::uint64_t, std::uint64_t> values_of(std::uint32_t type,
                                                  const ckpt_message_body &body)
{
    switch (type) {
    case CKPT_MSG_REPORT:
    case CKPT_MSG_STOPPED:
        return {body.report.place, body.report.holds};
    case CKPT_MSG_DRAINED:
    case CKPT_MSG_LOGGED:
        return {body.total.messages, body.total.bytes};
    case CKPT_MSG_READY:
        return {ckpt_cut_due(&body.ready.cut), 0};
    case CKPT_MSG_COMPLETE:
        return {ckpt_cut_done(&body.complete), 0};
    case CKPT_MSG_REQUEST:
        return {body.request.runs_on, 0};
    case CKPT_MSG_RUN:
        return {body.run.unclocked, 0};
    case CKPT_MSG_RESUME:
    case CKPT_MSG_CLOSE:
        return {body.end.outcome, 0};
    default:
        return {0, 0};
    }
}

/* Returns the class of an event, for counting which class is most frequent. */
std::pair<TraceKind, std::uint16_t> sort_of(const TraceEvent &event)
{
    return {event.kind, event.type};
}

} // namespace

TraceRecorder::TraceRecorder(std::size_t limit)
    : limit_(limit)
{
    CKPT_EXPECT(limit >= 2);
}

void TraceRecorder::begin(std::string_view protocol, int rank_count,
                          std::vector<TraceNode> nodes, Time now)
{
    CKPT_EXPECT(rank_count > 0);
    trace_ = {};
    trace_.protocol = protocol;
    trace_.rank_count = rank_count;
    trace_.nodes = std::move(nodes);
    trace_.requested = now_nanoseconds();
    requested_ = now;
    auto count = static_cast<std::size_t>(rank_count);
    still_since_.assign(count, unknown_time);
    stood_still_.assign(count, 0);
    last_ready_.assign(count, unknown_time);
    captured_.assign(count, 0);
}

void TraceRecorder::set_sides(std::vector<std::uint32_t> sides)
{
    trace_.sides = std::move(sides);
}

std::int64_t TraceRecorder::since_request(Time time) const
{
    return nanoseconds(time - requested_).count();
}

/* ---- Events -------------------------------------------------------------- */

void TraceRecorder::ordered(const action::Send &order, Time now)
{
    TraceEvent event;

    event.kind = TraceKind::order;
    event.type = static_cast<std::uint16_t>(order.type);
    event.to = order.rank;
    event.at = since_request(now);
    std::tie(event.value, event.more) = values_of(order.type, order.body);
    add(event);
}

void TraceRecorder::answered(int rank, const ckpt_message &message, Time now)
{
    TraceEvent event;

    event.kind = TraceKind::answer;
    event.type = static_cast<std::uint16_t>(message.type);
    event.from = rank;
    event.at = since_request(now);
    std::tie(event.value, event.more) = values_of(message.type, message.as);
    if (message.type == CKPT_MSG_READY) {
        last_ready_.at(static_cast<std::size_t>(rank)) = event.at;
        trace_.totals.channels += event.value;
    }
    if (message_format(event.type) != nullptr) {
        add(event);
    }
}

void TraceRecorder::stands_still(int rank, bool still, Time now)
{
    auto index = static_cast<std::size_t>(rank);
    std::int64_t &since = still_since_.at(index);
    TraceEvent event;

    if ((since != unknown_time) == still) {
        return;
    }
    event.kind = still ? TraceKind::stopped : TraceKind::resumed;
    event.from = rank;
    event.at = since_request(now);
    stood_still_[index] += still ? 0 : event.at - since;
    since = still ? event.at : unknown_time;
    add(event);
}

void TraceRecorder::captured(int rank, Time now)
{
    TraceEvent event;

    captured_.at(static_cast<std::size_t>(rank)) = 1;
    event.from = rank;
    event.kind = TraceKind::captured;
    event.at = since_request(now);
    add(event);
}

void TraceRecorder::written(const std::string &host, Time now)
{
    auto node = std::ranges::find(trace_.nodes, host, &TraceNode::host);

    if (node != trace_.nodes.end()) {
        TraceEvent event;
        event.kind = TraceKind::written;
        event.from = static_cast<int>(node - trace_.nodes.begin());
        event.at = since_request(now);
        add(event);
    }
}

void TraceRecorder::commit(Time now)
{
    TraceEvent event;

    event.kind = TraceKind::commit;
    event.at = since_request(now);
    for (std::size_t rank = 0; rank < still_since_.size(); rank++) {
        if (still_since_[rank] != unknown_time) { /* the rank will be killed */
            stood_still_[rank] +=
                event.at - std::exchange(still_since_[rank], event.at);
        }
    }
    add(event);
}

void TraceRecorder::seen_on(int node, TraceEvent event)
{
    /* unsigned, so that no value from the node can overflow */
    const auto shift = static_cast<std::uint64_t>(
                           trace_.nodes.at(static_cast<std::size_t>(node)).clock_offset) -
                       static_cast<std::uint64_t>(
                           nanoseconds(requested_.time_since_epoch()).count());

    for (std::int64_t *time : {&event.at, &event.arrived}) {
        if (*time != unknown_time) {
            *time = static_cast<std::int64_t>(static_cast<std::uint64_t>(*time) + shift);
        }
    }
    if (event.kind == TraceKind::cut) { /* more exact than the arrival of READY */
        last_ready_.at(static_cast<std::size_t>(event.from)) = unknown_time;
    }
    add(event);
}

void TraceRecorder::seen_by(int rank, const RankSeen &seen,
                            const ClockOffset &clock)
{
    int node = trace_.node_of(rank);

    if (node < 0) {
        return;
    }
    trace_.nodes[static_cast<std::size_t>(node)].clock_offset =
        clock.nanoseconds;
    trace_.nodes[static_cast<std::size_t>(node)].clock_error = clock.error;
    for (const ckpt_seen &one : seen.events) {
        if (one.kind < CKPT_SEEN_KINDS && one.peer < trace_.rank_count &&
            (one.peer >= 0 || one.kind == CKPT_SEEN_CUT)) {
            seen_on(node, event_of(rank, one));
        }
    }
    for (const SweepSeen &one : seen.sweep) {
        if (std::max(one.from, one.to) < trace_.nodes.size()) {
            seen_on(node, event_of(one));
        }
    }
    count_unkept(seen);
}

/* ---- Cost ---------------------------------------------------------------- */

/* Counts the events that a rank has counted but had no space to record. */
void TraceRecorder::count_unkept(const RankSeen &seen)
{
    std::array<std::uint64_t, CKPT_SEEN_KINDS> unkept = seen.counts;
    std::uint64_t bytes = seen.logged_bytes;

    for (const ckpt_seen &one : seen.events) {
        if (one.kind < CKPT_SEEN_KINDS && unkept[one.kind] > 0) {
            unkept[one.kind]--;
            bytes -= one.kind == CKPT_SEEN_LOGGED ? std::min(bytes, one.value) : 0;
        }
    }
    trace_.totals.markers += unkept[CKPT_SEEN_MARKER_SENT];
    trace_.totals.first_use_markers += unkept[CKPT_SEEN_FIRST_USE_SENT];
    trace_.totals.logged += unkept[CKPT_SEEN_LOGGED];
    trace_.totals.logged_bytes += bytes;
    trace_.left_out +=
        std::accumulate(unkept.begin(), unkept.end(), std::uint64_t{0});
}

CheckpointCost TraceRecorder::cost() const
{
    const TraceTotals &totals = trace_.totals;
    std::vector<std::int64_t> times = stood_still_;
    CheckpointCost cost;
    CKPT_EXPECT(!stood_still_.empty());

    std::ranges::sort(times);
    auto seconds = [](std::int64_t time) {
        return static_cast<double>(time) * 1e-9;
    };
    cost.messages = count_by_purpose(trace_.protocol, totals.messages);
    cost.channels = trace_.protocol == "cl" ? totals.channels : 0;
    cost.markers = totals.markers;
    cost.first_use_markers = totals.first_use_markers;
    cost.sweep = totals.sweep;
    cost.cross_cut_messages = totals.logged;
    cost.cross_cut_bytes = totals.logged_bytes;
    cost.stood_still = {seconds(times.front()),
                        seconds(times[times.size() / 2]),
                        seconds(times.back())};
    return cost;
}

/* ---- Bounds -------------------------------------------------------------- */

/* A message is counted at its sender, a logged message at its receiver. */
void TraceRecorder::count(const TraceEvent &event)
{
    TraceTotals &totals = trace_.totals;
    bool sent = event.at != unknown_time;

    switch (event.kind) {
    case TraceKind::order:
    case TraceKind::answer:
        totals.messages[event.type]++;
        break;
    case TraceKind::marker:
        totals.markers += sent && !event.first_use ? 1 : 0;
        totals.first_use_markers += sent && event.first_use ? 1 : 0;
        break;
    case TraceKind::sweep:
        totals.sweep += sent ? 1 : 0;
        break;
    case TraceKind::logged:
        totals.logged++;
        totals.logged_bytes += event.value;
        break;
    default:
        break;
    }
}

bool TraceRecorder::is_kept(const TraceEvent &event) const
{
    if (is_of_nodes(event.kind)) {
        return true;
    }
    auto kept = [this](int rank) { return rank % trace_.every == 0; };
    if (is_between_ranks(event.kind)) {
        return kept(event.from) && kept(event.to);
    }
    return kept(std::max(event.from, event.to)); /* the other one is -1 */
}

void TraceRecorder::add(const TraceEvent &event)
{
    count(event);
    while (is_kept(event) && trace_.events.size() >= limit_) {
        make_room();
    }
    if (is_kept(event)) {
        trace_.events.push_back(event);
    } else {
        trace_.left_out++;
    }
    CKPT_INVARIANT(trace_.events.size() <= limit_);
}

void TraceRecorder::make_room()
{
    std::size_t before = trace_.events.size();

    if (trace_.rank_count / trace_.every >= 2 * most_drawn_ranks) {
        thin_ranks();
    } else {
        drop_most_frequent();
    }
    trace_.left_out += before - trace_.events.size();
}

void TraceRecorder::thin_ranks()
{
    trace_.every *= 2;
    std::erase_if(trace_.events, [this](const TraceEvent &event) {
        return !is_kept(event);
    });
}

/* Removes the first half of the class in the table, which is the older half. */
void TraceRecorder::drop_most_frequent()
{
    CKPT_EXPECT(!trace_.events.empty());
    std::map<std::pair<TraceKind, std::uint16_t>, std::size_t> counts;

    for (const TraceEvent &event : trace_.events) {
        counts[sort_of(event)]++;
    }
    auto most = std::ranges::max_element(
        counts, {}, [](const auto &entry) { return entry.second; });
    std::size_t left = (most->second + 1) / 2;
    std::erase_if(trace_.events, [&](const TraceEvent &event) {
        return left > 0 && sort_of(event) == most->first && left-- > 0;
    });
}

/* ---- The end ------------------------------------------------------------- */

/* Joins the two reports of a message, with one time each, into one event. */
void TraceRecorder::join_halves()
{
    std::vector<TraceEvent> &events = trace_.events;
    auto halves = std::stable_partition(
        events.begin(), events.end(),
        [](const TraceEvent &event) { return !has_halves(event.kind); });
    std::ranges::stable_sort(halves, events.end(), {}, name_of);

    auto kept = halves;
    for (auto next = halves; next != events.end(); ++next) {
        if (kept == halves || !are_halves(*std::prev(kept), *next)) {
            *kept++ = *next;
        } else if (next->at == unknown_time) {
            std::prev(kept)->arrived = next->arrived;
        } else { /* the sender's report, which has the count */
            std::int64_t arrived = std::prev(kept)->arrived;
            *std::prev(kept) = *next;
            std::prev(kept)->arrived = arrived;
        }
    }
    events.erase(kept, events.end());
}

/* Adds cuts of captured ranks that have not reported their cuts. */
void TraceRecorder::add_cuts()
{
    for (std::size_t rank = 0; rank < captured_.size(); rank++) {
        if (captured_[rank] != 0 && last_ready_[rank] != unknown_time) {
            TraceEvent event;
            event.kind = TraceKind::cut;
            event.from = static_cast<std::int32_t>(rank);
            event.at = last_ready_[rank];
            add(event);
        }
    }
}

CheckpointTrace TraceRecorder::finish(const std::string &job,
                                      std::uint64_t number)
{
    CKPT_EXPECT(std::ssize(captured_) == trace_.rank_count);
    add_cuts();
    trace_.job = job;
    trace_.number = number;
    join_halves();
    std::ranges::stable_sort(trace_.events, {}, &TraceEvent::time);
    return std::exchange(trace_, {});
}

} // namespace ckpt
