/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * described_json.cpp - numbers that JSON would round, as hexadecimal digits.
 */
#include "config.h"
#include "image/io/described_json.hpp"

namespace ckpt
{

std::string hexadecimal_text(std::uint64_t value)
{
    return fmt::format("{:016x}", value);
}

std::uint64_t parse_hexadecimal(const std::string &text, const std::string &name)
{
    const bool is_valid =
        text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!is_valid) {
        fail("{}: '{}' is not a checksum", name, text);
    }
    return std::stoull(text, nullptr, 16);
}

} // namespace ckpt
