/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames.cpp - structures as JSON, between agents.
 */
#include "agent/messages/frames.hpp"

#include "agent/base/rejected_frames.hpp"
#include "common/invariant.hpp"
#include "protocol/rank_message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

namespace ckpt
{

using nlohmann::json;

namespace
{

const ckpt_message_format &format_named(const std::string &name)
{
    const std::span formats(ckpt_message_formats, ckpt_message_format_count);
    const auto found = std::ranges::find(formats, name, &ckpt_message_format::name);

    if (found == formats.end()) {
        reject(Rejection::malformed, "a message '{}'", name);
    }
    return *found;
}

/* The library converts negative numbers and fractions without a word. */
std::uint64_t unsigned_from(const json &number)
{
    if (!number.is_number_unsigned()) {
        reject(Rejection::malformed, "invalid number {} in a message", number.dump());
    }
    return number.get<std::uint64_t>();
}

/* Requires that a list is not longer than a rank page can make it. */
void require_at_most(std::size_t most, const json &list, const char *what)
{
    if (list.size() > most) {
        reject(Rejection::malformed, "{} {} of one rank", list.size(), what);
    }
}

/* A list of structures is sent as one list for each member: each name is there once. */
template <typename Row, typename Member>
json column(const std::vector<Row> &rows, Member Row::*member)
{
    json list = json::array();

    for (const Row &row : rows) {
        list.push_back(row.*member);
    }
    return list;
}

/* Sets a member of all rows. */
template <typename Row, typename Member>
void read_column(const json &columns, const char *name, Member Row::*member,
                 std::vector<Row> &rows)
{
    const json &list = columns.at(name);

    if (!list.is_array() || list.size() != rows.size()) {
        reject(Rejection::malformed, "{} rows, but not as many values of '{}'", rows.size(), name);
    }
    for (std::size_t i = 0; i < rows.size(); i++) {
        list[i].get_to(rows[i].*member);
    }
}

} // namespace

json to_frame(const std::vector<ckpt_clock> &clocks)
{
    CKPT_EXPECT(clocks.size() <= CKPT_CLOCK_SLOTS); /* clocks_from() refuses more */
    return {{"id", column(clocks, &ckpt_clock::id)},
            {"entered", column(clocks, &ckpt_clock::entered)},
            {"left", column(clocks, &ckpt_clock::left)},
            {"target", column(clocks, &ckpt_clock::target)},
            {"settled", column(clocks, &ckpt_clock::settled)}};
}

std::vector<ckpt_clock> clocks_from(const json &columns)
{
    require_at_most(CKPT_CLOCK_SLOTS, columns.at("id"), "clocks");
    std::vector<ckpt_clock> clocks(columns.at("id").size());

    read_column(columns, "id", &ckpt_clock::id, clocks);
    read_column(columns, "entered", &ckpt_clock::entered, clocks);
    read_column(columns, "left", &ckpt_clock::left, clocks);
    read_column(columns, "target", &ckpt_clock::target, clocks);
    read_column(columns, "settled", &ckpt_clock::settled, clocks);
    return clocks;
}

json to_frame(const ckpt_message &message)
{
    const ckpt_message_format *format = ckpt_message_find(message.type);
    const std::size_t length = strnlen(message.text, sizeof message.text);
    json fields = json::object();

    CKPT_EXPECT(format != nullptr); /* a rank's message is checked when it arrives */
    for (std::uint32_t i = 0; i < format->field_count; i++) {
        fields[format->field[i].name] = message.as.field[i];
    }
    return {{"type", format->name},
            {"epoch", message.epoch},
            {"fields", fields},
            {"text", std::string(message.text, length)}};
}

ckpt_message message_from(const json &json, ckpt_sender sender)
{
    const ckpt_message_format &format = format_named(json.at("type"));
    const auto &fields = json.at("fields");
    const char *wrong = nullptr;
    ckpt_message message = make_message(format.type, unsigned_from(json.at("epoch")), {},
                                        json.at("text").get<std::string>());

    if (fields.size() != format.field_count) {
        reject(Rejection::malformed, "a message {} with {} fields, not {}", format.name,
               fields.size(), format.field_count);
    }
    for (std::uint32_t i = 0; i < format.field_count; i++) {
        message.as.field[i] = unsigned_from(fields.at(format.field[i].name));
    }
    if (ckpt_message_check(&message, sender, &wrong) != 0) {
        reject(Rejection::malformed, "a message {} with an invalid '{}'", format.name, wrong);
    }
    return message;
}

json to_frame(const RankSeen &seen)
{
    CKPT_EXPECT(seen.events.size() <= CKPT_HISTORY_EVENTS); /* seen_from() refuses more */
    const json events = {{"at", column(seen.events, &ckpt_seen::at)},
                         {"value", column(seen.events, &ckpt_seen::value)},
                         {"kind", column(seen.events, &ckpt_seen::kind)},
                         {"peer", column(seen.events, &ckpt_seen::peer)}};
    const json sweep = {{"from", column(seen.sweep, &SweepSeen::from)},
                        {"to", column(seen.sweep, &SweepSeen::to)},
                        {"dimension", column(seen.sweep, &SweepSeen::dimension)},
                        {"sent", column(seen.sweep, &SweepSeen::sent)},
                        {"at", column(seen.sweep, &SweepSeen::at)}};

    return {{"counts", seen.counts},
            {"logged_bytes", seen.logged_bytes},
            {"events", events},
            {"sweep", sweep}};
}

RankSeen seen_from(const json &json)
{
    const auto &events = json.at("events");
    const auto &sweep = json.at("sweep");
    RankSeen seen;

    require_at_most(CKPT_HISTORY_EVENTS, events.at("at"), "events");
    seen.counts = json.at("counts");
    seen.logged_bytes = json.at("logged_bytes");
    seen.events.resize(events.at("at").size());
    read_column(events, "at", &ckpt_seen::at, seen.events);
    read_column(events, "value", &ckpt_seen::value, seen.events);
    read_column(events, "kind", &ckpt_seen::kind, seen.events);
    read_column(events, "peer", &ckpt_seen::peer, seen.events);
    seen.sweep.resize(sweep.at("at").size());
    read_column(sweep, "from", &SweepSeen::from, seen.sweep);
    read_column(sweep, "to", &SweepSeen::to, seen.sweep);
    read_column(sweep, "dimension", &SweepSeen::dimension, seen.sweep);
    read_column(sweep, "sent", &SweepSeen::sent, seen.sweep);
    read_column(sweep, "at", &SweepSeen::at, seen.sweep);
    return seen;
}

json to_frame(const FileSystem &file_system)
{
    return {{"kind", kind_name(file_system.kind)},
            {"source", file_system.source}};
}

/* An unknown kind becomes local, like an unknown file system. */
FileSystem file_system_from(const json &json)
{
    FileSystem file_system;

    for (auto kind : {FileSystem::Kind::server, FileSystem::Kind::parallel}) {
        if (json.at("kind") == kind_name(kind)) {
            file_system.kind = kind;
        }
    }
    file_system.source = json.at("source");
    return file_system;
}

json to_frame(const char *type, const Refusal &reason)
{
    return {{"type", type},
            {"refusal", static_cast<std::uint64_t>(reason.identity())},
            {"reason", reason.detail()}};
}

Refusal refusal_from(const json &json)
{
    const auto number = json.find("refusal");

    return {refusal_of(number == json.end() ? 0 : number->get<std::uint64_t>()),
            json.at("reason")};
}

json to_frame(const Piece &piece)
{
    return {{"file", piece.file},
            {"host", piece.host},
            {"bytes", piece.bytes},
            {"checksum", piece.checksum},
            {"ranks", piece.ranks},
            {"shared", piece.shared},
            {"identity", piece.identity},
            {"base", piece.base},
            {"base_identity", piece.base_identity},
            {"salt", piece.salt}};
}

Piece piece_from(const json &json)
{
    Piece piece;

    piece.file = json.at("file");
    piece.host = json.at("host");
    piece.bytes = json.at("bytes");
    piece.checksum = json.at("checksum");
    piece.ranks = json.at("ranks").get<std::vector<int>>();
    piece.shared = json.at("shared");
    piece.identity = json.at("identity");
    piece.base = json.at("base");
    piece.base_identity = json.at("base_identity");
    piece.salt = json.at("salt");
    return piece;
}

} // namespace ckpt
