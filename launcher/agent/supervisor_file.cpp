/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor_file.cpp - "INCARNATION tcp PORT KEY HOST..."
 */
#include "agent/supervisor_file.hpp"

#include "common/error.hpp"
#include "common/files.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ckpt
{

namespace
{

constexpr const char *what = "address of ckpt run";

} // namespace

void SupervisorFile::write(const std::filesystem::path &path) const
{
    write_text_file_atomically(path, fmt::format("{} {}\n", incarnation, address.text()),
                               what);
}

std::optional<SupervisorFile> SupervisorFile::read(const std::filesystem::path &path)
{
    SupervisorFile file;

    try {
        const std::string text = read_own_text_file(path, what, 4096);
        const char *end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, file.incarnation);
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
