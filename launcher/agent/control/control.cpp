/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.cpp - encoding of the control protocol, and the places of its
 * sockets.
 */
#include "agent/control/control.hpp"

#include "common/json_bytes.hpp"
#include "common/files/run_directory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ckpt::control
{

namespace
{

template <typename Message>
bool decode(std::string_view line, Message &message, std::string &error)
{
    auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) {
        error = "not a JSON object";
        return false;
    }
    try {
        message = with_strings(json, json_bytes_from).template get<Message>();
    } catch (const std::exception &problem) {
        error = problem.what();
        return false;
    }
    if (message.version != control::version) {
        error = fmt::format("version {} of the control protocol, not {}",
                            message.version, control::version);
        return false;
    }
    return true;
}

} // namespace

std::string namespace_hash(std::string_view launch_namespace)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned char byte : launch_namespace) {
        hash = (hash ^ byte) * 0x100000001b3u;
    }
    return fmt::format("{:016x}", hash);
}

std::vector<std::filesystem::path> control_sockets()
{
    std::vector<std::filesystem::path> found;
    std::error_code error;
    std::filesystem::directory_iterator entries(run_directory(), error);
    for (; !error && entries != std::filesystem::directory_iterator();
         entries.increment(error)) {
        const auto ending = entries->path().extension();
        if (ending == ".ctl" || ending == ".run") {
            found.push_back(entries->path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

Reply error_reply(const Refusal &why)
{
    Reply reply;

    reply.event = "error";
    reply.error = why.detail();
    reply.refusal = why.name();
    return reply;
}

Refusal refusal_of(const Reply &reply)
{
    return reply.event == "error" ? Refusal(ckpt::refusal_of(reply.refusal), reply.error)
                                  : Refusal();
}

Refusal last_failure(const Status &status)
{
    return status.last_error.empty()
               ? Refusal()
               : Refusal(ckpt::refusal_of(status.last_refusal), status.last_error);
}

void to_json(nlohmann::json &json, const Reply &reply)
{
    json = {{"version", reply.version}, {"event", reply.event}};
    if (reply.event == "progress") {
        json["progress"] = reply.progress;
    } else if (reply.event == "result") {
        json["result"] = reply.result;
    } else if (reply.event == "status") {
        json["status"] = reply.status;
    } else if (reply.event == "error") {
        json["error"] = reply.error;
        json["refusal"] = reply.refusal;
    }
}

void from_json(const nlohmann::json &json, Reply &reply)
{
    const Reply none;
    reply.version = json.value("version", 0);
    reply.event = json.value("event", none.event);
    reply.error = json.value("error", none.error);
    reply.refusal = json.value("refusal", none.refusal);
    reply.progress = json.value("progress", none.progress);
    reply.result = json.value("result", none.result);
    reply.status = json.value("status", none.status);
}

std::string encode_line(const nlohmann::json &json)
{
    return dump_json(json) + "\n";
}

bool decode_request(std::string_view line, Request &request,
                    std::string &error)
{
    return decode(line, request, error);
}

bool decode_reply(std::string_view line, Reply &reply, std::string &error)
{
    return decode(line, reply, error);
}

} // namespace ckpt::control
