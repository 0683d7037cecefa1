/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_change.hpp - changes of single files, each of which can be repeated.
 *
 * Every function throws Error with a text that names the path. Symbolic links are not
 * followed at the end of a path.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt::journal
{

/* lstat(); nothing if there is no such name. */
std::optional<struct stat> status_of(const std::filesystem::path &path);

/* What belongs to a file besides its content. */
struct Attributes {
    mode_t mode = 0;
    uid_t owner = 0;
    gid_t group = 0;
    std::int64_t modified = 0; /* nanoseconds since 1970 */
};

/* Owner and group are set if they differ. */
void set_attributes(const std::filesystem::path &path, const Attributes &attributes);
void set_modified(const std::filesystem::path &path, std::int64_t modified);

/* Runs `change`, which returns -1 with errno, again with a writable directory if that is
 * why it fails and the directory belongs to us. what: "remove", for the error. */
void change_name(const std::filesystem::path &path, const char *what,
                 const std::function<int()> &change);

/* Removes a name, of a directory only if that is empty. One that is not there is no error. */
void remove_name(const std::filesystem::path &path);

/*
 * Lets `path` name what `make` makes under the temporary name that it gets, by a rename.
 * An empty directory is removed first. temporary: a name in the same directory.
 */
void replace_name(const std::filesystem::path &path, const std::filesystem::path &temporary,
                  const std::function<int(const char *)> &make);

/* Opens a regular file for writing, also if its mode forbids that to its owner. */
Fd open_writable(const std::filesystem::path &path);

/* The first `size` bytes of `from` become the whole content of `to`. */
void copy_content(const std::filesystem::path &from, int to, std::uint64_t size);

/* No other descriptor has the file open, on this host, as far as the kernel tells. Where it
 * cannot tell: false. */
bool is_open_nowhere(const std::filesystem::path &path);

/* All that the open file `from` holds, while it may become longer or shorter, is copied into
 * the new file `to`. path: of `from`, for messages. */
void copy_open_file(int from, int to, const std::filesystem::path &path);

} // namespace ckpt::journal
