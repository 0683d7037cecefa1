/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_bytes.hpp - JSON for strings of any bytes: names of files, arguments, variables.
 *
 * JSON has text only (RFC 8259). A byte that belongs to no character of UTF-8 is written as the
 * private character U+10FF00 plus its value, and comes back as that byte; so do the bytes of such a
 * character in the string itself. All other strings are written as they are.
 */
#pragma once

#include "common/error.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace ckpt
{

/* One string, there and back. What json_bytes_text() never writes comes back as it is. */
std::string json_bytes_text(std::string_view bytes);
std::string json_bytes_from(std::string_view text);

/* Changes all strings in it, keys too. Throws Error if it is nested more than `depth` times. */
template <typename Json, typename Change>
Json with_strings(const Json &json, Change change, int depth = 100)
{
    if (depth < 0) {
        fail("JSON that is nested too deeply");
    }
    if (json.is_string()) {
        return Json(change(json.template get_ref<const std::string &>()));
    }
    if (!json.is_structured()) {
        return json;
    }
    Json changed = json.is_array() ? Json::array() : Json::object();
    if (json.is_array()) {
        for (const Json &element : json) {
            changed.push_back(with_strings(element, change, depth - 1));
        }
    } else {
        for (auto it = json.begin(); it != json.end(); ++it) {
            changed[change(it.key())] = with_strings(it.value(), change, depth - 1);
        }
    }
    return changed;
}

/* The text of a value. indent: as nlohmann's dump(). */
template <typename Json> std::string dump_json(const Json &json, int indent = -1)
{
    return with_strings(json, json_bytes_text).dump(indent);
}

/* The value of a text. Throws what nlohmann's parse() does, or Error. */
template <typename Json = nlohmann::json> Json parse_json(std::string_view text)
{
    return with_strings(Json::parse(text), json_bytes_from);
}

} // namespace ckpt
