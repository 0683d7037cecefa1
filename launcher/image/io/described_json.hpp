/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * described_json.hpp - one description of a structure's fields, by which it is both written as a
 * JSON object and read back. The description is a function beside the structure:
 *
 *     template <class Fields, SameAs<Piece> P> void describe(Fields &fields, P &piece)
 *     {
 *         fields.required("file", piece.file);
 *         fields.required("checksum", hexadecimal(piece.checksum));
 *         fields.optional("base", piece.base);
 *     }
 *
 * A value may be a described structure, a vector of them, or anything that nlohmann::json converts.
 */
#pragma once

#include "common/durations.hpp"
#include "common/error.hpp"
#include "image/io/json_fields.hpp"

#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace ckpt
{

/* T is U, or const U: a description serves both. */
template <class T, class U>
concept SameAs = std::same_as<std::remove_const_t<T>, U>;

/* A 64-bit number that is stored as 16 hexadecimal digits. */
template <class N>
struct Hexadecimal {
    N &value;
};
template <class N>
Hexadecimal<N> hexadecimal(N &value)
{
    return {value};
}
std::string hexadecimal_text(std::uint64_t value);
/* Throws Error, which names `name`, unless the text is 16 hexadecimal digits. */
std::uint64_t parse_hexadecimal(const std::string &text, const std::string &name);

/* Nanoseconds since 1970 that are stored as a date (format_time()). */
template <class N>
struct Date {
    N &value;
};
template <class N>
Date<N> date(N &value)
{
    return {value};
}

/* Builds a JSON object, with its fields in the order of the description. */
class JsonWriter
{
  public:
    using Json = nlohmann::ordered_json;

    template <class T>
    void required(const char *field, const T &value)
    {
        json_[field] = json_of(value);
    }
    /* A field that is always written, and that files of older versions lack. */
    template <class T>
    void added(const char *field, const T &value) { required(field, value); }
    /* A field that is written unless it has its default value. */
    template <class T>
    void optional(const char *field, const T &value)
    {
        if (!is_default(value)) {
            required(field, value);
        }
    }

    Json &json() { return json_; }

    template <class T>
    static Json json_of(const T &value)
    {
        JsonWriter writer;
        if constexpr (requires { describe(writer, value); }) {
            describe(writer, value);
            return std::move(writer.json_);
        } else {
            return Json(nlohmann::json(value));
        }
    }
    template <class T>
    static Json json_of(const std::vector<T> &values)
    {
        Json list = Json::array();
        for (const T &value : values) {
            list.push_back(json_of(value));
        }
        return list;
    }
    template <class N>
    static Json json_of(const Hexadecimal<N> &number)
    {
        return hexadecimal_text(number.value);
    }
    template <class N>
    static Json json_of(const Date<N> &time)
    {
        return format_time(time.value);
    }

  private:
    template <class T>
    static bool is_default(const T &value) { return value == T(); }
    template <class N>
    static bool is_default(const Hexadecimal<N> &number)
    {
        return number.value == 0;
    }

    Json json_ = Json::object();
};

/* Reads the fields of a JSON object. Throws Error, which names the object and the field. */
class JsonReader
{
  public:
    explicit JsonReader(JsonFields fields)
        : fields_(std::move(fields)) {}

    const JsonFields &fields() const { return fields_; }

    template <class T>
    void required(const char *field, T &&value)
    {
        if constexpr (requires(JsonReader reader) { describe(reader, value); }) {
            read(fields_.object(field), value);
        } else {
            get(field, value);
        }
    }
    /* A field that is always written, and that files of older versions lack. */
    template <class T>
    void added(const char *field, T &&value) { optional(field, value); }
    /* Leaves the value unchanged if the object lacks the field. */
    template <class T>
    void optional(const char *field, T &&value)
    {
        if (fields_.has(field)) {
            required(field, std::forward<T>(value));
        }
    }

    template <class T>
    static void read(JsonFields fields, T &value)
    {
        JsonReader reader(std::move(fields));
        describe(reader, value);
    }

  private:
    template <class T>
    void get(const char *field, T &value) { fields_.get(field, value); }
    template <class T>
    void get(const char *field, std::vector<T> &values)
    {
        if constexpr (requires(JsonReader reader, T value) { describe(reader, value); }) {
            for (const JsonFields &element : fields_.list(field)) {
                read(element, values.emplace_back());
            }
        } else {
            fields_.get(field, values);
        }
    }
    template <class N>
    void get(const char *field, Hexadecimal<N> &number)
    {
        std::string text;
        fields_.get(field, text);
        number.value = parse_hexadecimal(text, fields_.name());
    }
    template <class N>
    void get(const char *field, Date<N> &time)
    {
        std::string text;
        fields_.get(field, text);
        try {
            time.value = parse_time(text);
        } catch (const Error &error) {
            fail("{}: field '{}': {}", fields_.name(), field, error.what());
        }
    }

    JsonFields fields_;
};

} // namespace ckpt
