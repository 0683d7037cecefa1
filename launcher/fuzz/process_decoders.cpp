/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_decoders.cpp - decoders of files in /proc that a process reads about itself;
 * these are libckpt's own, in C.
 */
#include "config.h"
#include "fuzz/decoders.hpp"

#include "common/error.hpp"

extern "C" {
#include "base/text.h"
#include "memory/maps.h"
}

#include <cstring>

namespace ckpt::fuzz
{

namespace
{

constexpr const char *some_maps =
    "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus\\012daemon\n"
    "7ffd5a2f6000-7ffd5a317000 rw-p 00000000 00:00 0   [stack]\n"
    "7f1234560000-7f1234570000 rw-s 00001000 00:01 17  /dev/shm/a (deleted)\n"
    "7f1234570000-7f1234580000 ---p 00000000 00:00 0 \n";

/* Uses the input up to its first NUL, as the callers do. */
void decode_maps(const std::string &bytes)
{
    std::string text = bytes.c_str();
    char *at = text.data();
    const char *const end = at + text.size();
    ckpt_mapping mapping;
    int found;

    while ((found = ckpt_maps_next(&at, &mapping)) == 1) {
        require(at <= end, "a line beyond the text");
        require(mapping.name + std::strlen(mapping.name) <= end, "a name beyond the text");
    }
    if (found < 0) {
        fail("a line that is not understood");
    }
}

void decode_numbers(const std::string &bytes)
{
    const std::string text = bytes.c_str();
    char again[32];
    std::uint64_t value = 0;
    bool is_number = false;

    if (ckpt_text_hexadecimal(text.c_str(), &value) != nullptr) {
        is_number = true;
        ckpt_text_format(again, sizeof again, "%x", static_cast<unsigned long>(value));
        require(value == std::strtoull(again, nullptr, 16), "another number");
    }
    if (ckpt_text_decimal(text.c_str(), &value) != nullptr) {
        require(value == std::strtoull(text.c_str(), nullptr, 10), "another number");
    } else if (!is_number) {
        fail("no number");
    }
}

} // namespace

std::vector<Decoder> process_decoders()
{
    return {
        {"maps", {some_maps}, decode_maps},
        {"numbers", {"0", "18446744073709551615", "7ffd5a2f6000"}, decode_numbers},
    };
}

} // namespace ckpt::fuzz
