/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_trace.cpp - writes, reads and checks trace.json.
 */
#include "config.h"
#include "image/store/checkpoint_trace.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "image/io/described_json.hpp"

#include "ckpt/wire.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace ckpt
{

namespace fs = std::filesystem;

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
static_assert(std::size(kinds) == static_cast<std::size_t>(TraceKind::commit) + 1);

const KindFormat &format_of(TraceKind kind)
{
    CKPT_EXPECT(static_cast<std::size_t>(kind) < std::size(kinds));
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

    CKPT_EXPECT(!is_message(event.kind) || message_format(event.type) != nullptr);
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

std::map<std::string, std::uint64_t> counts_by_name(const TraceTotals &totals)
{
    std::map<std::string, std::uint64_t> counts;

    for (const auto &[type, count] : totals.messages) {
        CKPT_EXPECT(message_format(type) != nullptr);
        counts[message_format(type)->name] = count;
    }
    return counts;
}

using RefusalList = std::vector<std::map<std::string, std::string>>;

RefusalList list_of(const std::vector<Refusal> &refusals)
{
    RefusalList list;

    for (const Refusal &refusal : refusals) {
        list.push_back({{"refusal", refusal.name()}, {"detail", refusal.detail()}});
    }
    return list;
}

} // namespace

/* ---- The fields of the file except its events, which are many ----------- */

template <class Fields, SameAs<TraceNode> N>
void describe(Fields &fields, N &node)
{
    fields.required("host", node.host);
    fields.required("ranks", node.ranks);
    fields.required("clock_offset", node.clock_offset);
    fields.required("clock_error", node.clock_error);
}

template <class Fields, SameAs<TraceTotals> T>
void describe(Fields &fields, T &totals)
{
    std::map<std::string, std::uint64_t> counts = counts_by_name(totals);
    fields.required("messages", counts);
    if constexpr (!std::is_const_v<T>) {
        for (const auto &[name, count] : counts) {
            totals.messages[message_named(name, fields.fields().name()).type] = count;
        }
    }
    fields.added("channels", totals.channels);
    fields.required("markers", totals.markers);
    fields.required("first_use_markers", totals.first_use_markers);
    fields.required("sweep", totals.sweep);
    fields.required("logged", totals.logged);
    fields.required("logged_bytes", totals.logged_bytes);
}

/* All fields but "format" and "events". */
template <class Fields, SameAs<CheckpointTrace> T>
void describe(Fields &fields, T &trace)
{
    fields.required("job", trace.job);
    fields.required("number", trace.number);
    fields.required("protocol", trace.protocol);
    fields.required("requested", date(trace.requested));
    fields.required("rank_count", trace.rank_count);
    fields.required("nodes", trace.nodes);
    fields.required("sides", trace.sides);
    fields.required("totals", trace.totals);
    fields.required("every", trace.every);
    fields.required("left_out", trace.left_out);
    RefusalList refusals = list_of(trace.refusals);
    fields.optional("refusals", refusals); /* earlier releases do not write it */
    if constexpr (!std::is_const_v<T>) {
        for (auto &refusal : refusals) {
            trace.refusals.emplace_back(refusal_of(refusal["refusal"]), refusal["detail"]);
        }
    }
}

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
    JsonWriter writer;
    writer.required("format", trace_version);
    describe(writer, *this);
    std::string text = dump_json(writer.json());
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
    JsonReader reader(JsonFields::parse(text, name));
    CheckpointTrace trace;
    int version = 0;

    reader.required("format", version);
    if (version != trace_version) {
        fail("{} has version {} of the format; this program reads version {}",
             name, version, trace_version);
    }
    describe(reader, trace);
    if (trace.rank_count < 1 || trace.every < 1) {
        fail("{}: {} ranks, every {}: impossible", name, trace.rank_count,
             trace.every);
    }
    for (const JsonFields &event : reader.fields().list("events")) {
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
