/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result_text.cpp - formats the numbers with their names.
 */
#include "config.h"
#include "simulator/result_text.hpp"

#include "protocol/message_purpose.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace ckpt::simulator
{

namespace
{

using Json = nlohmann::ordered_json;

Json messages_of(const MessageCounts &messages)
{
    return {{"alignment", messages.alignment},
            {"requests", messages.requests},
            {"stopped", messages.stopped},
            {"drain_orders", messages.drain_orders},
            {"drained", messages.drained},
            {"save_orders", messages.save_orders},
            {"saved", messages.saved},
            {"resumed", messages.resumed},
            {"markers", messages.markers},
            {"first_use_markers", messages.first_use_markers},
            {"sweep", messages.sweep},
            {"counts", messages.counts},
            {"ends", messages.ends},
            {"over", messages.over},
            {"logged", messages.logged}};
}

/* Converts the counts to counts by purpose, as for a real checkpoint. Messages
 * of a sweep are between nodes and have no purposes. */
Json purposes_of(Protocol protocol, const MessageCounts &messages)
{
    const bool stops = protocol == Protocol::sync_and_stop;
    const auto cut = stops ? CKPT_MSG_STOP : CKPT_MSG_CUT;
    std::map<std::uint16_t, std::uint64_t> by_type{
        {CKPT_MSG_REQUEST, messages.alignment / 2},
        {CKPT_MSG_REPORT, messages.alignment / 2},
        {cut, messages.requests},
        {CKPT_MSG_STOPPED, messages.stopped},
        {CKPT_MSG_DRAIN, messages.drain_orders},
        {CKPT_MSG_DRAINED, messages.drained},
        {CKPT_MSG_SAVE, messages.save_orders},
        {CKPT_MSG_READY, messages.saved},
        {CKPT_MSG_RESUME, messages.resumed},
        {CKPT_MSG_COUNTS, messages.counts},
        {CKPT_MSG_COMPLETE, messages.ends},
        {CKPT_MSG_CLOSE, messages.over},
        {CKPT_MSG_LOGGED, messages.logged}};
    return protocol == Protocol::network_sweep
               ? Json::object()
               : Json(count_by_purpose(stops ? "sns" : "cl", by_type));
}

Json spread_of(std::vector<Seconds> times)
{
    std::sort(times.begin(), times.end());
    const Seconds sum = std::accumulate(times.begin(), times.end(), 0.0);
    return {{"least", times.front()},
            {"median", times[times.size() / 2]},
            {"most", times.back()},
            {"mean", sum / static_cast<double>(times.size())}};
}

Json describe(const Scenario &scenario, const std::string &program,
              const Result &result)
{
    return {{"protocol", protocol_name(scenario.protocol)},
            {"stagger", scenario.checkpoint.stagger},
            {"program", program},
            {"application_simulated", scenario.checkpoint.uniform == 0},
            {"detail", result.detail},
            {"ranks", scenario.job.ranks},
            {"nodes", scenario.job.nodes()},
            {"file_systems", scenario.job.file_systems()},
            {"seed", scenario.job.seed},
            {"messages", messages_of(result.messages)},
            {"purposes", purposes_of(scenario.protocol, result.messages)},
            {"cross_cut",
             {{"messages", result.log.messages}, {"bytes", result.log.bytes}}},
            {"stop_time", spread_of(result.stop_times)},
            {"first_cut", result.times.first_cut},
            {"last_cut", result.times.last_cut},
            {"last_saved", result.times.last_saved},
            {"commit", result.times.commit},
            {"most_writers", result.most_writers},
            {"application_messages", result.application_messages},
            {"events", result.events}};
}

void add_lines(std::string &text, const std::string &prefix, const Json &json)
{
    for (const auto &[key, value] : json.items()) {
        const std::string name = prefix.empty() ? key : prefix + ", " + key;
        if (value.is_object()) {
            add_lines(text, name, value);
        } else if (value.is_string()) {
            text += fmt::format("{:28} {}\n", name, value.get<std::string>());
        } else if (value.is_number_float()) {
            text += fmt::format("{:28} {:.6g} s\n", name, value.get<double>());
        } else {
            text += fmt::format("{:28} {}\n", name, value.dump());
        }
    }
}

} // namespace

std::string to_json(const Scenario &scenario, const std::string &program,
                    const Result &result)
{
    return describe(scenario, program, result).dump(1) + "\n";
}

std::string to_text(const Scenario &scenario, const std::string &program,
                    const Result &result)
{
    std::string text;
    add_lines(text, "", describe(scenario, program, result));
    std::replace(text.begin(), text.end(), '_', ' ');
    return text;
}

} // namespace ckpt::simulator
