/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * temporary_name.cpp - the name of a file until it is complete.
 */
#include "config.h"
#include "common/files/temporary_name.hpp"

#include "common/files/directory.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/random_digits.hpp"

namespace ckpt
{

namespace
{

constexpr std::string_view suffix = ".tmp";
constexpr std::string_view hexadecimal = "0123456789abcdef";
constexpr std::size_t random_bytes = 8;

} // namespace

std::filesystem::path temporary_name(const std::filesystem::path &path)
{
    CKPT_EXPECT(path.has_filename());
    return fmt::format("{}.{}{}", path.string(), random_digits(random_bytes), suffix);
}

std::string_view without_temporary_suffix(std::string_view name)
{
    if (!name.ends_with(suffix)) {
        return name;
    }
    name.remove_suffix(suffix.size());
    const std::size_t dot = name.rfind('.');
    if (dot != std::string_view::npos && dot + 1 < name.size() &&
        name.find_first_not_of(hexadecimal, dot + 1) == std::string_view::npos) {
        name.remove_suffix(name.size() - dot);
    }
    return name;
}

void remove_temporaries(const std::filesystem::path &path)
{
    CKPT_EXPECT(path.has_filename());
    const Directory directory(path.parent_path());

    for (const std::string &name : directory.names()) {
        if (name.ends_with(suffix) && without_temporary_suffix(name) == path.filename().string() &&
            directory.has_file(name)) {
            directory.remove_file(name);
        }
    }
}

} // namespace ckpt
