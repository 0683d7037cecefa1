/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_message.cpp - messages of ckpt-world as JSON in CBOR.
 */
#include "world/world_message.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace ckpt::world
{

using nlohmann::json;

namespace
{

constexpr std::size_t header_size = 4;
constexpr std::array<std::string_view, 5> event_names = {"connected", "finalized", "aborted",
                                                         "lost", "closed"};

/* ---- To JSON ------------------------------------------------------------------- */

json json_of(const Register &message)
{
    json nodes = json::array();
    for (const WorldNode &node : message.world.nodes) {
        nodes.push_back({{"host", node.host}, {"ranks", node.ranks}});
    }
    return {{"type", "register"},
            {"name", message.world.name},
            {"nodes", nodes},
            {"own node", message.world.own_node},
            {"pmi", message.has_pmi},
            {"directory", message.world.directory.string()}};
}

json json_of(const Process &message)
{
    return {{"type", "process"},
            {"name", message.name},
            {"rank", message.rank},
            {"pid", message.pid}};
}

json json_of(const Forget &message)
{
    return {{"type", "forget"}, {"name", message.name}};
}

json json_of(const FenceId &id)
{
    return {{"name", id.name}, {"ranks", id.ranks}, {"number", id.number}};
}

json json_of(const FencePart &message)
{
    return {{"type", "fence part"},
            {"fence", json_of(message.id)},
            {"data", json::binary({message.data.begin(), message.data.end()})}};
}

json json_of(const FenceResult &message)
{
    return {{"type", "fence result"},
            {"fence", json_of(message.id)},
            {"complete", message.is_complete},
            {"data", json::binary({message.data.begin(), message.data.end()})}};
}

json json_of(const Started &message)
{
    return {{"type", "started"}, {"version", message.version}, {"library", message.library}};
}

json json_of(const Endpoint &message)
{
    return {{"type", "endpoint"}, {"name", message.name}, {"rank", message.rank}};
}

json json_of(const Registered &message)
{
    json environments = json::array();
    for (const auto &[rank, variables] : message.environments) {
        environments.push_back({{"rank", rank}, {"variables", variables}});
    }
    return {{"type", "registered"}, {"name", message.name}, {"environments", environments}};
}

json json_of(const Forgotten &message)
{
    return {{"type", "forgotten"}, {"name", message.name}};
}

json json_of(const Refused &message)
{
    return {{"type", "refused"}, {"name", message.name}, {"why", message.why}};
}

json json_of(const RankEvent &message)
{
    return {{"type", event_names.at(static_cast<std::size_t>(message.kind))},
            {"name", message.name},
            {"rank", message.rank},
            {"status", message.status},
            {"text", message.text}};
}

/* ---- From JSON ------------------------------------------------------------------ */

Message register_of(const json &object)
{
    World world;
    world.name = object.at("name").get<std::string>();
    world.own_node = object.at("own node").get<std::size_t>();
    world.directory = object.at("directory").get<std::string>();
    for (const json &node : object.at("nodes")) {
        world.nodes.push_back(
            {node.at("host").get<std::string>(), node.at("ranks").get<std::vector<int>>()});
    }
    return Register{std::move(world), object.at("pmi").get<bool>()};
}

FenceId fence_of(const json &object)
{
    const json &id = object.at("fence");
    return {id.at("name").get<std::string>(), id.at("ranks").get<std::vector<int>>(),
            id.at("number").get<std::uint64_t>()};
}

std::string bytes_of(const json &object)
{
    const auto &bytes = object.at("data").get_binary();
    return {bytes.begin(), bytes.end()};
}

Message registered_of(const json &object)
{
    Registered message{object.at("name").get<std::string>(), {}};
    for (const json &entry : object.at("environments")) {
        message.environments.emplace(entry.at("rank").get<int>(),
                                     entry.at("variables").get<std::vector<std::string>>());
    }
    return message;
}

Message event_of(const json &object, std::size_t kind)
{
    CKPT_EXPECT(kind < event_names.size());
    return RankEvent{static_cast<RankEvent::Kind>(kind), object.at("name").get<std::string>(),
                     object.at("rank").get<int>(), object.at("status").get<int>(),
                     object.at("text").get<std::string>()};
}

Message message_of(const json &object)
{
    const auto type = object.at("type").get<std::string>();

    if (type == "register") {
        return register_of(object);
    }
    if (type == "process") {
        return Process{object.at("name").get<std::string>(), object.at("rank").get<int>(),
                       object.at("pid").get<pid_t>()};
    }
    if (type == "forget") {
        return Forget{object.at("name").get<std::string>()};
    }
    if (type == "fence part") {
        return FencePart{fence_of(object), bytes_of(object)};
    }
    if (type == "fence result") {
        return FenceResult{fence_of(object), object.at("complete").get<bool>(),
                           bytes_of(object)};
    }
    if (type == "started") {
        return Started{object.at("version").get<std::string>(),
                       object.at("library").get<std::string>()};
    }
    if (type == "endpoint") {
        return Endpoint{object.at("name").get<std::string>(), object.at("rank").get<int>()};
    }
    if (type == "registered") {
        return registered_of(object);
    }
    if (type == "forgotten") {
        return Forgotten{object.at("name").get<std::string>()};
    }
    if (type == "refused") {
        return Refused{object.at("name").get<std::string>(), object.at("why").get<std::string>()};
    }
    for (std::size_t kind = 0; kind < event_names.size(); kind++) {
        if (type == event_names[kind]) {
            return event_of(object, kind);
        }
    }
    fail("there is no message '{}'", type);
}

} // namespace

std::string to_frame(const Message &message)
{
    const std::vector<std::uint8_t> body =
        json::to_cbor(std::visit([](const auto &one) { return json_of(one); }, message));
    std::string frame;

    CKPT_EXPECT(body.size() <= longest_frame);
    for (std::size_t i = 0; i < header_size; i++) {
        frame.push_back(static_cast<char>(body.size() >> (8 * i) & 0xff));
    }
    frame.append(body.begin(), body.end());
    return frame;
}

std::optional<Message> FrameReader::next()
{
    std::size_t size = 0;

    if (bytes_.size() < header_size) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < header_size; i++) {
        size |= static_cast<std::size_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    }
    if (size > longest_frame) {
        fail("a frame of {} bytes is too long", size);
    }
    if (bytes_.size() - header_size < size) {
        return std::nullopt;
    }
    const std::string body = bytes_.substr(header_size, size);
    bytes_.erase(0, header_size + size);
    try {
        return message_of(json::from_cbor(body));
    } catch (const json::exception &problem) {
        fail("a message is not valid: {}", problem.what());
    }
}

} // namespace ckpt::world
