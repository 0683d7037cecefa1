/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_bytes.cpp - JSON with strings of arbitrary bytes.
 */
#include "config.h"
#include "common/json_bytes.hpp"

#include <cstddef>

namespace ckpt
{

namespace
{

constexpr std::string_view escape_start = "\xf4\x8f";
constexpr std::size_t escape_size = 4;

unsigned byte_at(std::string_view bytes, std::size_t i)
{
    return static_cast<unsigned char>(bytes[i]);
}

/* Returns the bytes of the character at `i`; 0 if it is invalid (RFC 3629, section 4). */
std::size_t character_size(std::string_view bytes, std::size_t i)
{
    const unsigned first = byte_at(bytes, i);
    const std::size_t size = first < 0x80    ? 1
                             : first < 0xc2  ? 0
                             : first < 0xe0  ? 2
                             : first < 0xf0  ? 3
                             : first <= 0xf4 ? 4
                                             : 0;
    if (size == 0 || i + size > bytes.size()) {
        return 0;
    }
    for (std::size_t k = 1; k < size; k++) {
        if ((byte_at(bytes, i + k) & 0xc0) != 0x80) {
            return 0;
        }
    }
    const unsigned second = size > 1 ? byte_at(bytes, i + 1) : 0;
    const bool is_wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                          (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return is_wrong ? 0 : size;
}

/* U+10FF00 to U+10FFFF: F4 8F BC 80 to F4 8F BF BF. */
bool is_escape(std::string_view bytes, std::size_t i, std::size_t size)
{
    return size == escape_size && bytes.substr(i, escape_start.size()) == escape_start &&
           byte_at(bytes, i + 2) >= 0xbc;
}

void add_escape(std::string &text, unsigned byte)
{
    text += escape_start;
    text += static_cast<char>(0xbc + (byte >> 6));
    text += static_cast<char>(0x80 + (byte & 0x3f));
}

} // namespace

std::string json_bytes_text(std::string_view bytes)
{
    std::string text;

    for (std::size_t i = 0; i < bytes.size();) {
        const std::size_t size = character_size(bytes, i);
        if (size == 0 || is_escape(bytes, i, size)) {
            add_escape(text, byte_at(bytes, i));
            i++;
        } else {
            text += bytes.substr(i, size);
            i += size;
        }
    }
    return text;
}

std::string json_bytes_from(std::string_view text)
{
    std::string bytes;

    for (std::size_t i = 0; i < text.size();) {
        const std::size_t size = character_size(text, i);
        if (size != 0 && is_escape(text, i, size)) {
            bytes += static_cast<char>((byte_at(text, i + 2) - 0xbc) << 6 |
                                       (byte_at(text, i + 3) - 0x80));
            i += size;
        } else {
            bytes += text.substr(i, size == 0 ? 1 : size);
            i += size == 0 ? 1 : size;
        }
    }
    return bytes;
}

} // namespace ckpt
