/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_bytes.hpp - JSON with strings of arbitrary bytes: file names, arguments, variables.
 *
 * JSON strings hold only text (RFC 8259). A byte that is not part of a UTF-8 character is written
 * as the private character U+10FF00 plus the byte's value. It is read back as that byte. If the
 * string itself contains such a private character, its bytes are written in the same way. All other
 * strings are written unchanged.
 */
#pragma once

#include "common/error.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace ckpt
{

/* Convert one string. json_bytes_from() leaves text unchanged that json_bytes_text() never
 * writes. */
std::string json_bytes_text(std::string_view bytes);
std::string json_bytes_from(std::string_view text);

/* Applies `change` to all strings of `json`, including keys. Throws Error if `json` is nested
 * more than `depth` levels. */
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

/* Returns the text of a value. indent: as in nlohmann's dump(). */
template <typename Json>
std::string dump_json(const Json &json, int indent = -1)
{
    return with_strings(json, json_bytes_text).dump(indent);
}

/* Returns the value of a text. Throws Error, or an exception of nlohmann's parse(). */
template <typename Json = nlohmann::json>
Json parse_json(std::string_view text)
{
    return with_strings(Json::parse(text), json_bytes_from);
}

} // namespace ckpt
