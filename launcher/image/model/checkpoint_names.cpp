/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_names.cpp - names of the files in a checkpoint's directory.
 */
#include "config.h"
#include "image/model/checkpoint_names.hpp"

#include "common/error.hpp"
#include "common/files/temporary_name.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ckpt
{

namespace
{

constexpr std::string_view name_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::string_view digits = "0123456789";
constexpr std::string_view room_suffix = ".room";

/* A file name with a variable part between `before` and `after`. */
struct Form {
    std::string_view before, after, characters;
};
constexpr std::array forms = {Form{"node-", ".h5", name_characters},
                              Form{"whole-", ".h5", name_characters},
                              Form{"parity-", ".bin", name_characters},
                              Form{"rank-", ".log", digits}};

bool has(std::string_view name, const Form &form)
{
    if (name.size() <= form.before.size() + form.after.size() ||
        !name.starts_with(form.before) || !name.ends_with(form.after)) {
        return false;
    }
    name.remove_prefix(form.before.size());
    name.remove_suffix(form.after.size());
    return name.find_first_not_of(form.characters) == std::string_view::npos;
}

bool is_final_name(std::string_view name)
{
    return name == manifest_name || name == trace_name ||
           std::ranges::any_of(forms, [&](const Form &form) { return has(name, form); });
}

/* Strips ".room" (agent/blocks/redundancy_writer.cpp) and the suffixes of temporary names. Returns
 * other names unchanged. */
std::string_view without_suffix_of_writer(std::string_view name)
{
    if (name.ends_with(room_suffix)) {
        return name.substr(0, name.size() - room_suffix.size());
    }
    return without_temporary_suffix(name);
}

std::string with_host(const Form &form, const std::string &host)
{
    return fmt::format("{}{}{}", form.before, file_name_part(host), form.after);
}

} // namespace

std::string checkpoint_directory_name(std::uint64_t number)
{
    return fmt::format("{:06}", number);
}

std::optional<std::uint64_t> checkpoint_number(std::string_view name)
{
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);

    if (error != std::errc() || end != name.data() + name.size() ||
        name != checkpoint_directory_name(number)) {
        return std::nullopt;
    }
    return number;
}

std::string file_name_part(std::string name)
{
    for (char &letter : name) {
        if (name_characters.find(letter) == std::string_view::npos) {
            letter = '_';
        }
    }
    return name;
}

std::string node_file_name(const std::string &host)
{
    return with_host(forms[0], host);
}

std::string whole_file_name(const std::string &host)
{
    return with_host(forms[1], host);
}

std::string parity_file_name(const std::string &host)
{
    return with_host(forms[2], host);
}

std::string message_log_name(int rank)
{
    CKPT_EXPECT(rank >= 0);
    return fmt::format("rank-{}.log", rank);
}

bool is_checkpoint_file(std::string_view name)
{
    return is_final_name(name) || is_final_name(without_suffix_of_writer(name));
}

} // namespace ckpt
