/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * temporary_name.hpp - the name of a file before it is whole: NAME.DIGITS.tmp.
 */
#pragma once

#include <filesystem>
#include <string_view>

namespace ckpt
{

/* A name beside `path` that no other writer of it has, on no host: two agents of one job, or
 * two commands, may write the same file. Throws Error if there are no random numbers. */
std::filesystem::path temporary_name(const std::filesystem::path &path);

/* NAME of "NAME.tmp" and "NAME.DIGITS.tmp", with hexadecimal digits; other names give
 * themselves. */
std::string_view without_temporary_suffix(std::string_view name);

/* Removes what writers of `path` that were killed have left. Only for the one process that may
 * write it now. Throws Error if the directory cannot be read. */
void remove_temporaries(const std::filesystem::path &path);

} // namespace ckpt
