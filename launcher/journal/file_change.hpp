/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * file_change.hpp - changes of single files, each of which can be repeated.
 *
 * Every function throws Error with a text that names the path, and does not follow a symbolic
 * link at the end of a path.
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

/* Calls lstat(); returns nothing if the name does not exist. */
std::optional<struct stat> status_of(const std::filesystem::path &path);

/* Attributes of a file besides its content. */
struct Attributes {
    mode_t mode = 0;
    uid_t owner = 0;
    gid_t group = 0;
    std::int64_t modified = 0; /* nanoseconds since 1970 */
};

/* Sets owner and group only if they differ. */
void set_attributes(const std::filesystem::path &path, const Attributes &attributes);
void set_modified(const std::filesystem::path &path, std::int64_t modified);

/* Runs `change`, which returns -1 with errno. If it fails because the directory is not
 * writable, and the directory belongs to this user, makes the directory writable and runs it
 * again. what: the verb for the error, such as "remove". */
void change_name(const std::filesystem::path &path, const char *what,
                 const std::function<int()> &change);

/* Removes a name; a directory only if it is empty. Does nothing if the name does not
 * exist. */
void remove_name(const std::filesystem::path &path);

/*
 * Replaces `path` by the object that `make` creates under its argument, a temporary name, and
 * renames it. Removes an empty directory first. temporary: a name in the same directory.
 */
void replace_name(const std::filesystem::path &path, const std::filesystem::path &temporary,
                  const std::function<int(const char *)> &make);

/* Opens a regular file for writing, even if its mode denies that to its owner. */
Fd open_writable(const std::filesystem::path &path);

/* Makes the first `size` bytes of `from` the whole content of `to`. */
void copy_content(const std::filesystem::path &from, int to, std::uint64_t size);

/* Whether no other descriptor on this host has the file open. Returns false if the kernel
 * cannot tell. */
bool is_open_nowhere(const std::filesystem::path &path);

/* Copies the content of the open file `from`, which may grow or shrink meanwhile, into the
 * new file `to`. path: of `from`, for messages. */
void copy_open_file(int from, int to, const std::filesystem::path &path);

} // namespace ckpt::journal
