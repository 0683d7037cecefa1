/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_files.cpp - names of the files in a checkpoint's directory.
 */
#include "config.h"
#include "image/checkpoint_files.hpp"

#include "common/directory.hpp"
#include "common/error.hpp"
#include "common/fault.hpp"
#include "common/temporary_name.hpp"
#include "image/checkpoint_trace.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace ckpt
{

namespace fs = std::filesystem;

namespace
{

constexpr std::string_view name_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::string_view digits = "0123456789";
/* Directory levels below the directory that the user has named, which may be a symbolic
 * link. */
constexpr unsigned job_and_checkpoint = 2;
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

/* Strips ".room" (agent/redundancy_writer.cpp) and the suffixes of temporary names. Returns
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
    return fmt::format("rank-{}.log", rank);
}

bool is_checkpoint_file(std::string_view name)
{
    return is_final_name(name) || is_final_name(without_suffix_of_writer(name));
}

std::vector<std::string> remove_checkpoint_files(const fs::path &path)
{
    std::vector<std::string> stays;

    try {
        const Directory directory(path, job_and_checkpoint);
        if (directory.has_file(manifest_name)) {
            directory.remove_file(manifest_name);
            directory.sync();
            fault_kill("remove-after-manifest");
        }
        for (const std::string &name : directory.names()) {
            const Directory::Entry entry = directory.entry(name);
            if (is_checkpoint_file(name) && entry == Directory::Entry::own_file) {
                directory.remove_file(name);
            } else if (entry != Directory::Entry::none) { /* else: gone */
                stays.push_back(name);
            }
        }
    } catch (const Error &error) {
        if (error.code() != ENOENT) {
            throw;
        }
    }
    if (stays.empty() && ::rmdir(path.c_str()) < 0 && errno != ENOENT) {
        fail_errno(errno, "cannot remove directory {}", path.string());
    }
    return stays;
}

void remove_files_without_use(const fs::path &path, const Manifest &manifest)
{
    const Directory directory(path, job_and_checkpoint);

    for (const std::string &name : directory.names()) {
        const bool is_used =
            name == manifest_name || name == trace_name ||
            std::ranges::any_of(manifest.pieces,
                                [&](const Piece &piece) { return piece.file == name; });
        if (!is_used && is_checkpoint_file(name) && directory.has_file(name)) {
            directory.remove_file(name);
        }
    }
}

} // namespace ckpt
