/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sealed_text.cpp - HMAC-SHA-256 of JSON files.
 */
#include "config.h"
#include "image/seal/sealed_text.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"

#include <optional>
#include <span>

namespace ckpt
{

namespace
{

constexpr std::string_view end_of_object = "\n}\n";
constexpr std::string_view before_seal = ",\n  \"seal\": \"";
constexpr std::string_view after_seal = "\"\n}\n";
constexpr std::size_t name_digits = 16;
constexpr std::size_t tag_digits = 2 * MessageKey::size;
constexpr std::size_t length_of_seal =
    before_seal.size() + name_digits + 1 + tag_digits + after_seal.size();

/* Returns the tag of the text before the seal. The tag is a key derived from
 * the text. */
std::string tag_of(const MessageKey &key, std::string_view text, std::string_view kind)
{
    return key.derive(fmt::format("ckpt text: {}", kind)).derive(text).text();
}

struct Seal {
    std::string_view key; /* name of the key */
    std::string_view tag;
};

std::optional<Seal> seal_of(std::string_view text)
{
    if (text.size() < length_of_seal) {
        return std::nullopt;
    }
    const std::string_view seal = text.substr(text.size() - length_of_seal);
    if (!seal.starts_with(before_seal) || !seal.ends_with(after_seal)) {
        return std::nullopt;
    }
    const std::string_view said = seal.substr(before_seal.size());
    if (said[name_digits] != ' ') {
        return std::nullopt;
    }
    return Seal{said.substr(0, name_digits), said.substr(name_digits + 1, tag_digits)};
}

void require_seal(const MessageKey &key, const std::optional<Seal> &seal, std::string_view text,
                  std::string_view kind, const std::string &name)
{
    if (!seal) {
        throw Error(fmt::format("{} was not made with a key, but one was given (--key)", name),
                    EKEYREJECTED);
    }
    if (seal->key != name_of_key(key)) {
        throw Error(fmt::format("{} was made with another key: with {}, not {}", name, seal->key,
                                name_of_key(key)),
                    EKEYREJECTED);
    }
    const auto given = MessageKey::parse(seal->tag);
    const auto right = MessageKey::parse(tag_of(key, text, kind));
    if (!given || !right || !(*given == *right) || given->text() != seal->tag) {
        fail("{} was changed by somebody without the key", name);
    }
}

} // namespace

std::string seal_text(std::string text, std::string_view kind)
{
    if (!image_key()) {
        return text;
    }
    if (!text.ends_with(end_of_object)) {
        fail("a {} cannot be sealed: it is not an object of several lines", kind);
    }
    text.resize(text.size() - end_of_object.size());
    const std::string tag = tag_of(*image_key(), text, kind);
    CKPT_INVARIANT(tag.size() == tag_digits && name_of_key(*image_key()).size() == name_digits);
    return fmt::format("{}{}{} {}{}", text, before_seal, name_of_key(*image_key()), tag,
                       after_seal);
}

std::string open_text(std::string text, std::string_view kind, const std::string &name)
{
    const std::optional<Seal> seal = seal_of(text);
    CKPT_INVARIANT(!seal || text.size() >= length_of_seal);
    const std::string_view sealed =
        std::string_view(text).substr(0, seal ? text.size() - length_of_seal : text.size());

    if (image_key()) {
        require_seal(*image_key(), seal, sealed, kind, name);
    }
    if (seal) {
        text.resize(sealed.size());
        text += end_of_object;
    }
    return text;
}

} // namespace ckpt
