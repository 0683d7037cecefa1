/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_request.cpp - requests and answers as JSON.
 */
#include "agent/blocks/block_request.hpp"

#include "agent/base/rejected_frames.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace ckpt::redundancy
{

using nlohmann::json;

namespace
{

/* Rejects -1 and 1.5, which nlohmann's conversion would accept. */
std::uint64_t number_of(const json &object, const char *field)
{
    if (!object.at(field).is_number_unsigned()) {
        reject(Rejection::malformed, "invalid number of bytes '{}'", field);
    }
    return object.at(field).get<std::uint64_t>();
}

constexpr std::size_t longest_address = 256; /* bytes; enough for any provider */

json lent_to_json(const fabric::Lent &lent)
{
    return {{"address", std::vector<unsigned char>(lent.address.begin(), lent.address.end())},
            {"key", lent.key},
            {"base", lent.base}};
}

fabric::Lent lent_from_json(const json &json)
{
    const auto address = json.at("address").get<std::vector<unsigned char>>();

    if (address.size() > longest_address) {
        reject(Rejection::malformed, "an address of {} bytes", address.size());
    }
    return {std::string(address.begin(), address.end()), number_of(json, "key"),
            number_of(json, "base")};
}

} // namespace

void to_json(json &json, const BlockRequest &request)
{
    json = {{"path", request.path}, {"offset", request.offset}, {"bytes", request.bytes}};
    if (!request.fabric.empty()) {
        json["fabric"] = request.fabric;
    }
}

void from_json(const json &json, BlockRequest &request)
{
    json.at("path").get_to(request.path);
    request.offset = number_of(json, "offset");
    request.bytes = number_of(json, "bytes");
    request.fabric = json.value("fabric", "");
}

void to_json(json &json, const BlockAnswer &answer)
{
    json = {{"error", answer.error}, {"size", answer.size}, {"bytes", answer.bytes}};
    if (answer.lent) {
        json["lent"] = lent_to_json(*answer.lent);
    }
    if (!answer.not_lent.empty()) {
        json["not_lent"] = answer.not_lent;
    }
}

void from_json(const json &json, BlockAnswer &answer)
{
    json.at("error").get_to(answer.error);
    answer.size = number_of(json, "size");
    answer.bytes = number_of(json, "bytes");
    if (json.contains("lent")) {
        answer.lent = lent_from_json(json.at("lent"));
    }
    answer.not_lent = json.value("not_lent", "");
}

} // namespace ckpt::redundancy
