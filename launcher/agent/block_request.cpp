/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_request.cpp - requests and answers as JSON.
 */
#include "agent/block_request.hpp"

#include "agent/refusals.hpp"

#include <nlohmann/json.hpp>

namespace ckpt::redundancy
{

using nlohmann::json;

namespace
{

/* nlohmann would take -1 and 1.5, too. */
std::uint64_t number_of(const json &object, const char *field)
{
    if (!object.at(field).is_number_unsigned()) {
        refuse(Refusal::malformed, "'{}' is no number of bytes", field);
    }
    return object.at(field).get<std::uint64_t>();
}

} // namespace

void to_json(json &json, const BlockRequest &request)
{
    json = {{"path", request.path}, {"offset", request.offset}, {"bytes", request.bytes}};
}

void from_json(const json &json, BlockRequest &request)
{
    json.at("path").get_to(request.path);
    request.offset = number_of(json, "offset");
    request.bytes = number_of(json, "bytes");
}

void to_json(json &json, const BlockAnswer &answer)
{
    json = {{"error", answer.error}, {"size", answer.size}, {"bytes", answer.bytes}};
}

void from_json(const json &json, BlockAnswer &answer)
{
    json.at("error").get_to(answer.error);
    answer.size = number_of(json, "size");
    answer.bytes = number_of(json, "bytes");
}

} // namespace ckpt::redundancy
