/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_message_key.cpp - keys and tags of messages.
 */
#include "common/message_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ckpt
{

namespace
{

std::span<const std::byte> bytes(std::string_view text)
{
    return std::as_bytes(std::span(text));
}

std::string hexadecimal(const MessageKey::Tag &tag)
{
    std::string text;
    for (std::byte byte : tag) {
        for (unsigned digit : {std::to_integer<unsigned>(byte) >> 4,
                               std::to_integer<unsigned>(byte) & 15u}) {
            text += "0123456789abcdef"[digit];
        }
    }
    return text;
}

/* RFC 4231, test case 4 has a key of 25 bytes; HMAC fills keys up with zeros. */
TEST(MessageKey, TagsAreThoseOfTheStandard)
{
    std::string key = "0102030405060708090a0b0c0d0e0f10111213141516171819";
    key.append(64 - key.size(), '0');
    const std::string data(50, '\xcd');

    EXPECT_EQ("82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
              hexadecimal(MessageKey::parse(key)->tag({bytes(data)})));
}

TEST(MessageKey, PartsAreOneText)
{
    const MessageKey key = MessageKey::make();
    EXPECT_EQ(key.tag({bytes("ab"), bytes("c")}), key.tag({bytes("abc")}));
}

TEST(MessageKey, TextAndBack)
{
    const MessageKey key = MessageKey::make();

    EXPECT_EQ(key, *MessageKey::parse(key.text()));
    EXPECT_FALSE(key == MessageKey::make());
    EXPECT_FALSE(MessageKey::parse(key.text().substr(1)).has_value());
    EXPECT_FALSE(MessageKey::parse(key.text() + "0").has_value());
    EXPECT_FALSE(MessageKey::parse(std::string(64, 'g')).has_value());
    EXPECT_FALSE(MessageKey::parse("").has_value());
}

TEST(MessageKey, DerivedKeysDiffer)
{
    const MessageKey key = MessageKey::make();

    EXPECT_EQ(key.derive("one"), key.derive("one"));
    EXPECT_FALSE(key.derive("one") == key.derive("two"));
    EXPECT_FALSE(key.derive("one") == key);
}

TEST(MessageKey, OnlyARightTagOfSomeLengthWillDo)
{
    const MessageKey key = MessageKey::make();
    MessageKey::Tag tag = key.tag({bytes("text")});
    const MessageKey::Tag right = tag;

    EXPECT_TRUE(is_tag(tag, right));
    EXPECT_TRUE(is_tag(std::span(tag).first(16), right));
    EXPECT_FALSE(is_tag(std::span(tag).first(15), right));
    EXPECT_FALSE(is_tag({}, right));
    for (std::byte &byte : tag) {
        byte ^= std::byte{1};
        EXPECT_FALSE(is_tag(tag, right));
        byte ^= std::byte{1};
    }
}

} // namespace

} // namespace ckpt
