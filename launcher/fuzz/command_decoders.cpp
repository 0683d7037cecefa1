/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command_decoders.cpp - decoders of lines between `ckpt` and an agent.
 */
#include "config.h"
#include "fuzz/decoders.hpp"

#include "agent/control/control.hpp"

#include <nlohmann/json.hpp>

namespace ckpt::fuzz
{

namespace
{

/* Decodes the line. If it is accepted, its message must survive encoding and
 * decoding. */
template <typename Message, bool decode(std::string_view, Message &, std::string &)>
void decode_line(const std::string &line)
{
    Message message, again;
    std::string error;

    if (!decode(line, message, error)) {
        require(!error.empty(), "a line that is refused without a reason");
        return;
    }
    require(decode(control::encode_line(message), again, error),
            "a line that cannot be said again");
}

std::vector<std::string> some_replies()
{
    control::Reply status, progress, result;

    status.event = "status";
    status.status.ranks = {{0, 1, "running"}};
    status.status.rejected = {{"forged", 1}};
    progress.event = "progress";
    result.event = "result";
    result.result.name = "job/1";
    return {control::encode_line(status), control::encode_line(progress),
            control::encode_line(result)};
}

} // namespace

std::vector<Decoder> command_decoders()
{
    control::Request request;

    request.command = "checkpoint";
    return {
        {"request",
         {control::encode_line(request)},
         decode_line<control::Request, control::decode_request>},
        {"reply", some_replies(), decode_line<control::Reply, control::decode_reply>},
    };
}

} // namespace ckpt::fuzz
