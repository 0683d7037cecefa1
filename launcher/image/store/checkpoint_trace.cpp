/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_trace.cpp - writes, reads and checks trace.json.
 */
#include "config.h"
#include "image/store/checkpoint_trace.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault.hpp"
#include "common/files/files.hpp"
#include "common/json_bytes.hpp"
#include "image/io/json_fields.hpp"

#include "ckpt/wire.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace ckpt
{

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace
{

constexpr MessageFormat messages[] = {
    {CKPT_MSG_REPORT, "REPORT", "place", "holds"},
    {CKPT_MSG_STOPPED, "STOPPED", "place", "holds"},
    {CKPT_MSG_DRAINED, "DRAINED", "messages", "bytes"},
    {CKPT_MSG_READY, "READY", "channels", nullptr},
    {CKPT_MSG_REFUSED, "REFUSED", nullptr, nullptr},
    {CKPT_MSG_COMPLETE, "COMPLETE", "markers", nullptr},
    {CKPT_MSG_LOGGED, "LOGGED", "messages", "bytes"},
    {CKPT_MSG_REQUEST, "REQUEST", "runs_on", nullptr},
    {CKPT_MSG_RUN, "RUN", "unclocked", nullptr},
    {CKPT_MSG_WHERE, "WHERE", nullptr, nullptr},
    {CKPT_MSG_STOP, "STOP", nullptr, nullptr},
    {CKPT_MSG_DRAIN, "DRAIN", nullptr, nullptr},
    {CKPT_MSG_SAVE, "SAVE", nullptr, nullptr},
    {CKPT_MSG_RESUME, "RESUME", "given_up", nullptr},
    {CKPT_MSG_CUT, "CUT", nullptr, nullptr},
    {CKPT_MSG_PROGRESS, "PROGRESS", nullptr, nullptr},
    {CKPT_MSG_COUNTS, "COUNTS", nullptr, nullptr},
    {CKPT_MSG_CLOSE, "CLOSE", "given_up", nullptr},
};

/* Indexed by TraceKind. `of_nodes`: the fields "from" and "to" are nodes, not
 * ranks. */
struct KindFormat {
    const char *name;
    bool has_from;
    bool has_to;
    bool of_nodes;
    const char *value;
};
constexpr KindFormat kinds[] = {
    {"order", false, true, false, nullptr},
    {"answer", true, false, false, nullptr},
    {"stopped", true, false, false, nullptr},
    {"resumed", true, false, false, nullptr},
    {"cut", true, false, false, nullptr},
    {"captured", true, false, false, nullptr},
    {"marker", true, true, false, "count"},
    {"sweep", true, true, true, "dimension"},
    {"logged", true, true, false, "bytes"},
    {"written", true, false, true, nullptr},
    {"commit", false, false, false, nullptr},
};

const KindFormat &format_of(TraceKind kind)
{
    return kinds[static_cast<std::size_t>(kind)];
}

bool is_message(TraceKind kind)
{
    return kind == TraceKind::order || kind == TraceKind::answer;
}

/* JSON member names, and the name of the order or answer, for one event. */
struct Members {
    const char *value = nullptr;
    const char *more = nullptr;
};

Members members_of(const TraceEvent &event)
{
    if (!is_message(event.kind)) {
        return {format_of(event.kind).value, nullptr};
    }
    const MessageFormat *message = message_format(event.type);
    return message == nullptr ? Members()
                              : Members{message->value, message->more};
}

/* ---- Writing ------------------------------------------------------------- */

using Output = std::back_insert_iterator<std::string>;

void write_event(Output out, const TraceEvent &event)
{
    const KindFormat &kind = format_of(event.kind);
    Members members = members_of(event);

    fmt::format_to(out, "{{\"kind\":\"{}\"", kind.name);
    if (event.at != unknown_time) {
        fmt::format_to(out, ",\"at\":{}", event.at);
    }
    if (event.arrived != unknown_time) {
        fmt::format_to(out, ",\"arrived\":{}", event.arrived);
    }
    if (is_message(event.kind)) {
        fmt::format_to(out, ",\"message\":\"{}\"",
                       message_format(event.type)->name);
    }
    if (kind.has_from) {
        fmt::format_to(out, ",\"from\":{}", event.from);
    }
    if (kind.has_to) {
        fmt::format_to(out, ",\"to\":{}", event.to);
    }
    if (members.value != nullptr) {
        fmt::format_to(out, ",\"{}\":{}", members.value, event.value);
    }
    if (members.more != nullptr) {
        fmt::format_to(out, ",\"{}\":{}", members.more, event.more);
    }
    if (event.kind == TraceKind::marker) {
        fmt::format_to(out, ",\"first_use\":{}", event.first_use);
    }
    fmt::format_to(out, "}}");
}

Json totals_json(const TraceTotals &totals)
{
    Json json = {{"messages", Json::object()},
                 {"channels", totals.channels},
                 {"markers", totals.markers},
                 {"first_use_markers", totals.first_use_markers},
                 {"sweep", totals.sweep},
                 {"logged", totals.logged},
                 {"logged_bytes", totals.logged_bytes}};
    for (auto [type, count] : totals.messages) {
        json["messages"][message_format(type)->name] = count;
    }
    return json;
}

Json node_json(const TraceNode &node)
{
    return {{"host", node.host},
            {"ranks", node.ranks},
            {"clock_offset", node.clock_offset},
            {"clock_error", node.clock_error}};
}

/* ---- Reading ------------------------------------------------------------- */

/* Names that a message had in earlier versions, as traces and manifests may contain them. */
constexpr struct {
    std::string_view former, now;
} renamed[] = {{"KICK", "PROGRESS"}, {"STUCK", "HOLD_BLOCKED"}};

const MessageFormat &message_named(const std::string &name,
                                   const std::string &where)
{
    const auto found = std::ranges::find(renamed, name, [](const auto &one) { return one.former; });
    const std::string_view now = found == std::end(renamed) ? name : found->now;

    for (const MessageFormat &message : messages) {
        if (now == message.name) {
            return message;
        }
    }
    fail("{}: unknown message '{}'", where, name);
}

TraceKind kind_named(const std::string &name, const std::string &where)
{
    for (std::size_t i = 0; i < std::size(kinds); i++) {
        if (name == kinds[i].name) {
            return static_cast<TraceKind>(i);
        }
    }
    fail("{}: unknown kind of event '{}'", where, name);
}

void get_index(const JsonFields &fields, const char *member, std::size_t limit,
               std::int32_t &value)
{
    fields.get(member, value);
    if (value < 0 || static_cast<std::size_t>(value) >= limit) {
        fail("{}: field '{}' is {}, but there are {}", fields.name(), member,
             value, limit);
    }
}

/* Leaves `time` unchanged if the field is missing. */
void get_time(const JsonFields &fields, const char *member, std::int64_t &time)
{
    constexpr std::int64_t longest = 100'000'000'000'000'000; /* 3 years */

    fields.get_if_there(member, time);
    if (time != unknown_time && (time < -longest || time > longest)) {
        fail("{}: field '{}' is {}, which is not a time of a checkpoint",
             fields.name(), member, time);
    }
}

TraceEvent parse_event(const JsonFields &fields, const CheckpointTrace &trace)
{
    TraceEvent event;
    std::string name;

    fields.get("kind", name);
    event.kind = kind_named(name, fields.name());
    const KindFormat &kind = format_of(event.kind);
    std::size_t limit = kind.of_nodes
                            ? trace.nodes.size()
                            : static_cast<std::size_t>(trace.rank_count);
    get_time(fields, "at", event.at);
    get_time(fields, "arrived", event.arrived);
    if (event.time() == unknown_time) {
        fail("{}: it has no time", fields.name());
    }
    if (is_message(event.kind)) {
        fields.get("message", name);
        event.type = message_named(name, fields.name()).type;
    }
    if (kind.has_from) {
        get_index(fields, "from", limit, event.from);
    }
    if (kind.has_to) {
        get_index(fields, "to", limit, event.to);
    }
    Members members = members_of(event);
    if (members.value != nullptr) {
        fields.get(members.value, event.value);
    }
    if (members.more != nullptr) {
        fields.get(members.more, event.more);
    }
    if (event.kind == TraceKind::marker) {
        fields.get("first_use", event.first_use);
    }
    return event;
}

TraceTotals parse_totals(const JsonFields &fields)
{
    TraceTotals totals;
    std::map<std::string, std::uint64_t> counts;

    fields.get("messages", counts);
    for (auto &[name, count] : counts) {
        totals.messages[message_named(name, fields.name()).type] = count;
    }
    fields.get_if_there("channels", totals.channels);
    fields.get("markers", totals.markers);
    fields.get("first_use_markers", totals.first_use_markers);
    fields.get("sweep", totals.sweep);
    fields.get("logged", totals.logged);
    fields.get("logged_bytes", totals.logged_bytes);
    return totals;
}

/* Earlier releases do not write the field. */
std::vector<Refusal> parse_refusals(const JsonFields &fields)
{
    std::vector<std::map<std::string, std::string>> list;
    std::vector<Refusal> refusals;

    fields.get_if_there("refusals", list);
    for (auto &refusal : list) {
        refusals.emplace_back(refusal_of(refusal["refusal"]), refusal["detail"]);
    }
    return refusals;
}

TraceNode parse_node(const JsonFields &fields)
{
    TraceNode node;

    fields.get("host", node.host);
    fields.get("ranks", node.ranks);
    fields.get("clock_offset", node.clock_offset);
    fields.get("clock_error", node.clock_error);
    return node;
}

} // namespace

const MessageFormat *message_format(std::uint16_t type)
{
    auto found = std::ranges::find(messages, type, &MessageFormat::type);
    return found == std::end(messages) ? nullptr : &*found;
}

bool TraceNode::has(int rank) const
{
    return std::ranges::any_of(ranks, [rank](const auto &run) {
        return run.first <= rank && rank <= run.second;
    });
}

std::uint64_t TraceTotals::of(std::uint16_t type) const
{
    auto found = messages.find(type);
    return found == messages.end() ? 0 : found->second;
}

int CheckpointTrace::node_of(int rank) const
{
    for (std::size_t i = 0; i < nodes.size(); i++) {
        if (nodes[i].has(rank)) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

std::string CheckpointTrace::text() const
{
    Json json = {{"format", trace_version},
                 {"job", job},
                 {"number", number},
                 {"protocol", protocol},
                 {"requested", format_time(requested)},
                 {"rank_count", rank_count},
                 {"nodes", Json::array()},
                 {"sides", sides},
                 {"totals", totals_json(totals)},
                 {"every", every},
                 {"left_out", left_out}};
    for (const Refusal &refusal : refusals) {
        json["refusals"].push_back({{"refusal", refusal.name()}, {"detail", refusal.detail()}});
    }
    for (const TraceNode &node : nodes) {
        json["nodes"].push_back(node_json(node));
    }
    std::string text =
        dump_json(json);
    text.back() = ','; /* overwrites the closing brace; the events follow */
    Output out(text);
    fmt::format_to(out, "\n\"events\":[");
    const char *before = "\n";
    for (const TraceEvent &event : events) {
        fmt::format_to(out, "{}", before);
        write_event(out, event);
        before = ",\n";
    }
    fmt::format_to(out, "\n]}}\n");
    return text;
}

CheckpointTrace CheckpointTrace::parse(const std::string &text,
                                       const std::string &name)
{
    JsonFields fields = JsonFields::parse(text, name);
    CheckpointTrace trace;
    std::string requested;
    int version = 0;

    fields.get("format", version);
    if (version != trace_version) {
        fail("{} has version {} of the format; this program reads version {}",
             name, version, trace_version);
    }
    fields.get("job", trace.job);
    fields.get("number", trace.number);
    fields.get("protocol", trace.protocol);
    fields.get("requested", requested);
    trace.requested = parse_time(requested);
    fields.get("rank_count", trace.rank_count);
    fields.get("sides", trace.sides);
    fields.get("every", trace.every);
    fields.get("left_out", trace.left_out);
    if (trace.rank_count < 1 || trace.every < 1) {
        fail("{}: {} ranks, every {}: impossible", name, trace.rank_count,
             trace.every);
    }
    trace.totals = parse_totals(fields.object("totals"));
    trace.refusals = parse_refusals(fields);
    for (const JsonFields &node : fields.list("nodes")) {
        trace.nodes.push_back(parse_node(node));
    }
    for (const JsonFields &event : fields.list("events")) {
        trace.events.push_back(parse_event(event, trace));
    }
    std::ranges::stable_sort(trace.events, {}, &TraceEvent::time);
    return trace;
}

void CheckpointTrace::write(const fs::path &directory) const
{
    fs::path path = directory / trace_name;
    if (fault_strikes("trace-write-enospc")) {
        fail_errno(ENOSPC, "cannot write trace {}", path.string());
    }
    write_text_file(path, text(), "trace");
}

CheckpointTrace CheckpointTrace::load(const fs::path &directory)
{
    fs::path path = directory / trace_name;
    if (!path_exists(path)) {
        fail_not_found("there is no trace {}", path.string());
    }
    return parse(read_own_text_file(path, "trace"), "trace " + path.string());
}

} // namespace ckpt
