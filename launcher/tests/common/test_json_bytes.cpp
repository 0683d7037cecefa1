/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_json_bytes.cpp - strings of any bytes survive a conversion to JSON and back.
 */
#include "config.h"
#include "common/json_bytes.hpp"

#include <gtest/gtest.h>

#include <random>

using namespace ckpt;
using Json = nlohmann::ordered_json;

namespace
{

std::string there_and_back(const std::string &bytes)
{
    const std::string text = dump_json(Json{{bytes, Json::array({bytes, 1, nullptr})}});
    const Json json = parse_json<Json>(text);

    EXPECT_EQ(json.at(bytes).at(0), bytes) << text;
    return json.begin().key();
}

TEST(JsonBytes, TextStaysText)
{
    for (const char *text : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                             "a\"b\\c\n", "%41", "\xf4\x8f\xbb\xbf"}) {
        EXPECT_EQ(json_bytes_text(text), text);
        EXPECT_EQ(there_and_back(text), text);
    }
}

TEST(JsonBytes, EachByteComesBack)
{
    for (int byte = 0; byte < 256; byte++) {
        const std::string alone(1, static_cast<char>(byte));
        EXPECT_EQ(there_and_back(alone), alone);
        EXPECT_EQ(there_and_back("a" + alone + "b"), "a" + alone + "b");
    }
}

/* Sequences that are nearly characters, and the bytes of the escapes themselves. */
TEST(JsonBytes, AllSequencesComeBack)
{
    for (const char *bytes : {"\xe9", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                              "\xe2\x82", "\xf0\x9f\x98", "\xf5\x80\x80\x80", "\xf4\x8f\xbf\xa9",
                              "\xf4\x8f\xbc\x80", "\xf4\x8f\xbf", "\xf4\x8f"}) {
        EXPECT_EQ(there_and_back(bytes), bytes);
    }
    std::mt19937 random(1);
    constexpr std::string_view letters = "a\x80\x8f\xbc\xbf\xc3\xe2\xed\xf0\xf4\xff";
    for (int round = 0; round < 20000; round++) {
        std::string bytes;
        for (int i = 0; i < 8; i++) {
            bytes += letters[random() % letters.size()];
        }
        EXPECT_EQ(json_bytes_from(json_bytes_text(bytes)), bytes);
        EXPECT_EQ(there_and_back(bytes), bytes);
    }
}

} // namespace
