/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery_message.cpp - messages of recoveries as frames.
 */
#include "agent/messages/recovery_message.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ckpt
{

using nlohmann::json;

namespace
{

constexpr std::array<std::string_view, 5> order_names = {"ask", "end", "thaw", "done", "give_up"};
constexpr std::array<std::string_view, 7> report_names = {
    "died", "returned", "able", "ended", "alive", "aborted", "failed"};
constexpr int base64 = sodium_base64_VARIANT_ORIGINAL;

/* Text in frames is UTF-8, so bytes are in base64 (RFC 4648). */
std::string text_of(const std::string &bytes)
{
    std::string text(sodium_base64_ENCODED_LEN(bytes.size(), base64), '\0');

    sodium_bin2base64(text.data(), text.size(),
                      reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), base64);
    text.pop_back(); /* the NUL */
    return text;
}

std::string bytes_of(const std::string &text)
{
    std::string bytes(text.size() / 4 * 3, '\0');
    std::size_t size = 0;

    if (sodium_base642bin(reinterpret_cast<unsigned char *>(bytes.data()), bytes.size(),
                          text.data(), text.size(), nullptr, &size, nullptr, base64) != 0) {
        fail("data that is not in base64");
    }
    bytes.resize(size);
    return bytes;
}

template <typename Step, typename Names>
Step step_of(const json &frame, const Names &names)
{
    const auto name = frame.at("step").get<std::string>();
    const auto found = std::ranges::find(names, name);

    if (found == names.end()) {
        fail("a step '{}' of a recovery", name);
    }
    return static_cast<Step>(found - names.begin());
}

int natural(const json &frame, const char *name)
{
    const int value = frame.at(name);

    if (value < 0) {
        fail("a {} of {}", name, value);
    }
    return value;
}

/* ---- To frames --------------------------------------------------------------------- */

json frame_of(const RecoveryOrder &order)
{
    return {{"type", "recover"},
            {"step", order_names.at(static_cast<std::size_t>(order.step))},
            {"round", order.round},
            {"rank", order.rank},
            {"number", order.number},
            {"checkpoint", order.checkpoint},
            {"world", order.world},
            {"why", order.why}};
}

json frame_of(const RecoveryReport &report)
{
    return {{"type", "recovery"},
            {"step", report_names.at(static_cast<std::size_t>(report.step))},
            {"round", report.round},
            {"rank", report.rank},
            {"shells", report.shells},
            {"code", report.code},
            {"final", report.is_final},
            {"why", report.why}};
}

json frame_of(const NextWorldOrder &order)
{
    json nodes = json::array();

    for (const world::WorldNode &node : order.nodes) {
        nodes.push_back({{"host", node.host}, {"ranks", node.ranks}});
    }
    return {{"type", "world"}, {"name", order.name}, {"nodes", nodes}};
}

json fence_frame(const char *type, const world::FenceId &id, const std::string &data)
{
    return {{"type", type},
            {"world", id.name},
            {"ranks", id.ranks},
            {"number", id.number},
            {"data", text_of(data)}};
}

json frame_of(const world::FencePart &part)
{
    return fence_frame("fence", part.id, part.data);
}

json frame_of(const world::FenceResult &result)
{
    json frame = fence_frame("fence_result", result.id, result.data);

    frame["complete"] = result.is_complete;
    return frame;
}

/* ---- From frames ------------------------------------------------------------------- */

RecoveryOrder order_from(const json &frame)
{
    RecoveryOrder order;

    order.step = step_of<RecoveryOrder::Step>(frame, order_names);
    frame.at("round").get_to(order.round);
    order.rank = natural(frame, "rank");
    frame.at("number").get_to(order.number);
    frame.at("checkpoint").get_to(order.checkpoint);
    frame.at("world").get_to(order.world);
    frame.at("why").get_to(order.why);
    return order;
}

RecoveryReport report_from(const json &frame)
{
    RecoveryReport report;

    report.step = step_of<RecoveryReport::Step>(frame, report_names);
    frame.at("round").get_to(report.round);
    report.rank = natural(frame, "rank");
    report.shells = natural(frame, "shells");
    frame.at("code").get_to(report.code);
    frame.at("final").get_to(report.is_final);
    frame.at("why").get_to(report.why);
    return report;
}

NextWorldOrder world_from(const json &frame)
{
    NextWorldOrder order;

    frame.at("name").get_to(order.name);
    for (const json &node : frame.at("nodes")) {
        order.nodes.push_back({node.at("host"), node.at("ranks")});
    }
    world::require_valid({order.name, order.nodes, 0, {}});
    return order;
}

world::FenceId fence_from(const json &frame)
{
    return {frame.at("world"), frame.at("ranks"), frame.at("number")};
}

} // namespace

json recovery_frame(const RecoveryMessage &message)
{
    return std::visit([](const auto &one) { return frame_of(one); }, message);
}

bool is_of_recovery(const std::string &type)
{
    constexpr std::array<std::string_view, 5> types = {"recover", "recovery", "world", "fence",
                                                       "fence_result"};

    return std::ranges::find(types, type) != types.end();
}

RecoveryMessage recovery_message_from(const json &frame)
{
    const auto type = frame.at("type").get<std::string>();

    if (type == "recover") {
        return order_from(frame);
    }
    if (type == "recovery") {
        return report_from(frame);
    }
    if (type == "world") {
        return world_from(frame);
    }
    if (type == "fence") {
        return world::FencePart{fence_from(frame), bytes_of(frame.at("data"))};
    }
    if (type == "fence_result") {
        return world::FenceResult{fence_from(frame), frame.at("complete"),
                                  bytes_of(frame.at("data"))};
    }
    fail("a frame of type '{}' is not of a recovery", type);
}

} // namespace ckpt
