/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * temporary_name.hpp - the name of a file until it is complete:
 * NAME.DIGITS.tmp.
 */
#pragma once

#include <filesystem>
#include <string_view>

namespace ckpt
{

/* Returns a name beside `path` that no other writer uses, on any host. Two agents of one job, or
 * two commands, may write the same file. Throws Error if the kernel has no random numbers. */
std::filesystem::path temporary_name(const std::filesystem::path &path);

/* Returns NAME of "NAME.tmp" and "NAME.DIGITS.tmp", with hexadecimal digits. Returns other names
 * unchanged. */
std::string_view without_temporary_suffix(std::string_view name);

/* Removes files that killed writers of `path` have left. Only the process that may write `path`
 * now may call this. Throws Error if the directory cannot be read. */
void remove_temporaries(const std::filesystem::path &path);

} // namespace ckpt
