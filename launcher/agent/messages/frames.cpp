/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames.cpp - structures as JSON, between agents.
 */
#include "agent/messages/frames.hpp"

#include <algorithm>
#include <cstring>

namespace ckpt
{

using nlohmann::json;

json to_frame(const std::vector<ckpt_clock> &clocks)
{
    json list = json::array();

    for (const ckpt_clock &clock : clocks) {
        list.push_back({clock.id, clock.entered, clock.left, clock.target,
                        clock.settled});
    }
    return list;
}

std::vector<ckpt_clock> clocks_from(const json &list)
{
    std::vector<ckpt_clock> clocks;

    for (const json &entry : list) {
        clocks.push_back({entry.at(0), entry.at(1), entry.at(2), entry.at(3),
                          entry.at(4)});
    }
    return clocks;
}

json to_frame(const ckpt_message &message)
{
    std::size_t length = strnlen(message.text, sizeof message.text);

    return {{"type", message.type},
            {"epoch", message.epoch},
            {"arg", message.arg},
            {"text", std::string(message.text, length)}};
}

ckpt_message message_from(const json &json)
{
    ckpt_message message{};
    std::string text = json.at("text");

    message.magic = CKPT_WIRE_MAGIC;
    message.version = CKPT_WIRE_VERSION;
    message.type = json.at("type");
    message.epoch = json.at("epoch");
    for (std::size_t i = 0; i < std::size(message.arg); i++) {
        message.arg[i] = json.at("arg").at(i);
    }
    text.resize(std::min(text.size(), sizeof message.text - 1));
    std::copy(text.begin(), text.end(), message.text);
    return message;
}

json to_frame(const RankSeen &seen)
{
    json events = json::array();

    for (const ckpt_seen &event : seen.events) {
        events.push_back({event.at, event.value, event.kind, event.peer});
    }
    json sweep = json::array();
    for (const SweepSeen &one : seen.sweep) {
        sweep.push_back({one.from, one.to, one.dimension, one.sent, one.at});
    }
    return {{"counts", seen.counts},
            {"logged_bytes", seen.logged_bytes},
            {"events", events},
            {"sweep", sweep}};
}

RankSeen seen_from(const json &json)
{
    RankSeen seen;

    seen.counts = json.at("counts");
    seen.logged_bytes = json.at("logged_bytes");
    for (const auto &event : json.at("events")) {
        seen.events.push_back(
            {event.at(0), event.at(1), event.at(2), event.at(3)});
    }
    for (const auto &one : json.at("sweep")) {
        seen.sweep.push_back(
            {one.at(0), one.at(1), one.at(2), one.at(3), one.at(4)});
    }
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
