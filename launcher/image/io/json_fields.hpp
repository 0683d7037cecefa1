/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_fields.hpp - reads the fields of a JSON object; errors name the file and
 * the field that is missing or invalid.
 */
#pragma once

#include "common/error.hpp"
#include "common/json_bytes.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace ckpt
{

class JsonFields
{
  public:
    /* Parses text that must be one JSON object; `name` identifies it in
     * errors. */
    static JsonFields parse(const std::string &text, const std::string &name)
    {
        if (text.empty()) {
            fail("{} is empty", name);
        }
        try {
            return JsonFields(parse_json(text), name);
        } catch (const nlohmann::json::parse_error &error) {
            fail("{} is not JSON, from byte {} on", name, error.byte);
        } catch (const nlohmann::json::exception &) {
            fail("{} is not JSON", name);
        }
    }

    const std::string &name() const { return name_; }
    bool has(const char *field) const { return json_.contains(field); }

    template <typename T>
    void get(const char *field, T &value) const
    {
        const nlohmann::json &found = find(field);
        if constexpr (std::is_same_v<T, bool>) {
            require(found.is_boolean(), field);
        } else if constexpr (std::is_unsigned_v<T>) {
            require(found.is_number_unsigned(), field);
        } else if constexpr (std::is_integral_v<T>) {
            require(found.is_number_integer(), field);
        }
        try {
            found.get_to(value);
        } catch (const nlohmann::json::exception &) {
            require(false, field);
        }
    }

    /* Leaves `value` unchanged if the object has no such field. */
    template <typename T>
    void get_if_there(const char *field, T &value) const
    {
        if (json_.contains(field)) {
            get(field, value);
        }
    }

    JsonFields object(const char *field) const
    {
        return JsonFields(find(field), name_ + ": " + field);
    }

    std::vector<JsonFields> list(const char *field) const
    {
        const nlohmann::json &found = find(field);
        require(found.is_array(), field);
        std::vector<JsonFields> elements;
        for (std::size_t i = 0; i < found.size(); i++) {
            elements.push_back(JsonFields(
                found[i], fmt::format("{}: {}[{}]", name_, field, i)));
        }
        return elements;
    }

  private:
    JsonFields(nlohmann::json json, std::string name)
        : json_(std::move(json)), name_(std::move(name))
    {
        if (!json_.is_object()) {
            fail("{} is not a JSON object", name_);
        }
    }

    const nlohmann::json &find(const char *field) const
    {
        auto found = json_.find(field);
        if (found == json_.end()) {
            fail("{}: field '{}' is missing", name_, field);
        }
        return *found;
    }

    void require(bool condition, const char *field) const
    {
        if (!condition) {
            fail("{}: field '{}' has a value of the wrong kind", name_, field);
        }
    }

    nlohmann::json json_;
    std::string name_;
};

} // namespace ckpt
