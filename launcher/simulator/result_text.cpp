/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * result_text.cpp - the numbers with their names.
 */
#include "config.h"
#include "simulator/result_text.hpp"

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
            {"save_orders", messages.save_orders},
            {"saved", messages.saved},
            {"markers", messages.markers},
            {"first_use_markers", messages.first_use_markers},
            {"sweep", messages.sweep},
            {"ends", messages.ends},
            {"over", messages.over}};
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

std::string name_of(Protocol protocol)
{
    for (const auto &[name, value] : protocol_names) {
        if (value == protocol) {
            return name;
        }
    }
    return {};
}

Json describe(const Scenario &scenario, const std::string &program,
              const Result &result)
{
    return {{"protocol", name_of(scenario.protocol)},
            {"stagger", scenario.checkpoint.stagger},
            {"program", program},
            {"application_simulated", scenario.checkpoint.uniform == 0},
            {"detail", result.detail},
            {"ranks", scenario.job.ranks},
            {"nodes", scenario.job.nodes()},
            {"file_systems", scenario.job.file_systems()},
            {"seed", scenario.job.seed},
            {"messages", messages_of(result.messages)},
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
