/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor_file.cpp - "INCARNATION tcp PORT KEY HOST...", encrypted with the user's key if there
 * is one.
 */
#include "agent/supervision/supervisor_file.hpp"

#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/seal/file_seal.hpp"
#include "image/seal/image_key.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace ckpt
{

namespace
{

constexpr const char *what = "address of ckpt run";

/* Start of a text that the user's key encrypts: "sealed SALT DIGITS". */
constexpr std::string_view sealed_word = "sealed ";
constexpr std::size_t salt_digits = 2 * MessageKey::size;
constexpr std::size_t longest = 4096;

std::string seal(std::string text)
{
    if (!image_key()) {
        return text;
    }
    const FileSeal seal(*image_key(), what);
    std::vector<std::byte> sealed(text.size() + FileSeal::overhead);
    const std::span all(sealed);
    seal.close(std::as_bytes(std::span(text)), all.first(text.size()),
               all.subspan(text.size()).first<FileSeal::overhead>(), what);
    std::string line = fmt::format("{}{} ", sealed_word, seal.salt());
    for (const std::byte byte : sealed) {
        line += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return line + "\n";
}

/* Converts pairs of hexadecimal digits to bytes, up to the first invalid pair. */
std::vector<std::byte> bytes_of(std::string_view digits)
{
    std::vector<std::byte> bytes;
    unsigned value = 0;
    while (digits.size() >= 2 &&
           std::from_chars(digits.data(), digits.data() + 2, value, 16).ptr == digits.data() + 2) {
        bytes.push_back(std::byte(value));
        digits.remove_prefix(2);
    }
    return bytes;
}

/* Returns nothing if the text was not made with this process's key. */
std::optional<std::string> open(const std::string &text)
{
    if (!image_key()) {
        return text;
    }
    const std::size_t start = sealed_word.size() + salt_digits + 1;
    if (!text.starts_with(sealed_word) || text.size() < start) {
        return std::nullopt;
    }
    std::vector<std::byte> sealed = bytes_of(std::string_view(text).substr(start));
    if (sealed.size() < FileSeal::overhead) {
        return std::nullopt;
    }
    const FileSeal seal(*image_key(), what, text.substr(sealed_word.size(), salt_digits));
    const std::span plain = std::span(sealed).first(sealed.size() - FileSeal::overhead);
    if (!seal.open(plain, std::span(sealed).last<FileSeal::overhead>(), what)) {
        return std::nullopt;
    }
    return std::string(reinterpret_cast<const char *>(plain.data()), plain.size());
}

} // namespace

void SupervisorFile::write(const std::filesystem::path &path) const
{
    const std::string text = seal(fmt::format("{} {}\n", incarnation, address.text()));

    CKPT_INVARIANT(text.size() <= longest); /* read() takes no more */
    write_text_file_atomically(path, text, what);
}

std::optional<SupervisorFile> SupervisorFile::read(const std::filesystem::path &path)
{
    SupervisorFile file;

    try {
        const auto text = open(read_secret_text_file(path, what, longest));
        if (!text) {
            return std::nullopt;
        }
        const char *end = text->data() + text->size();
        const auto [rest, error] = std::from_chars(text->data(), end, file.incarnation);
        if (error != std::errc() || rest == end) {
            return std::nullopt;
        }
        auto address = PeerAddress::parse(std::string_view(rest + 1, end));
        if (!address) {
            return std::nullopt;
        }
        file.address = *address;
    } catch (const Error &) {
        return std::nullopt;
    }
    return file;
}

} // namespace ckpt
