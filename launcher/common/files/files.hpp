/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files.hpp - whole files and directories, private to their owner.
 *
 * Every function throws Error with a text that names the path.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

/* Calls open(2) with O_CLOEXEC; `what` names the thing in an error ("manifest"). */
Fd open_file(const std::filesystem::path &path, int flags, mode_t mode,
             std::string_view what);

/* Opens a file for reading, which must be a regular file of the effective user and not a link.
 * The checks apply to the open file, so it cannot be replaced in between. Throws Error, with
 * code EPERM if another user owns the file. */
Fd open_own_file(const std::filesystem::path &path, std::string_view what);

/* Returns the whole text of such a file, of at most `limit` bytes. */
std::string read_own_text_file(const std::filesystem::path &path, std::string_view what,
                               std::size_t limit = 64u << 20);

/* Returns the same for a file that no other user can read or write: otherwise its content may
 * not be secret. Throws Error of code EPERM. */
std::string read_secret_text_file(const std::filesystem::path &path, std::string_view what,
                                  std::size_t limit = 64u << 20);

/* Returns the whole text of a file of at most `limit` bytes. */
std::string read_text_file(const std::filesystem::path &path,
                           std::string_view what,
                           std::size_t limit = 64u << 20);

/* Replaces `path` by a file of mode 0600 with this text: written under a temporary name, fsync,
 * rename, fsync of the directory (common/files/new_file.hpp). After an error, `path` is unchanged
 * and no temporary file is left. */
void write_text_file_atomically(const std::filesystem::path &path,
                                std::string_view text, std::string_view what);

/* Makes or replaces the file `path`, with mode 0600 and this text. For data
 * that may be lost in a crash: this does not wait for the disk. After an
 * error the file does not exist. */
void write_text_file(const std::filesystem::path &path, std::string_view text,
                     std::string_view what);

/* Returns the directory of a path, in a form that open(2) takes. */
std::filesystem::path directory_of(const std::filesystem::path &path);

/* Calls fsync for a directory, so that a rename in it survives a crash. */
void sync_directory(const std::filesystem::path &directory);

/* Makes a directory of mode 0700 whose name survives a crash, unless it exists. */
void make_lasting_directory(const std::filesystem::path &directory);

/* Does the same with its parents. An existing directory must belong to this
 * user. */
void make_private_directory(const std::filesystem::path &directory);

/* Returns the names of the directories in a directory, unsorted, including entries that cannot
 * be examined. */
std::vector<std::string> list_directories(const std::filesystem::path &path);

/* Returns false only if the name certainly does not exist. */
bool path_exists(const std::filesystem::path &path);

/* Returns false if no accessible directory has this name. Throws Error if that cannot be found
 * out: a caller that believes a directory missing may start over although it has content. */
bool directory_exists(const std::filesystem::path &path);

/* Returns the device and the inode number of the file: the same under all its names on this
 * host, until it is removed. Returns nothing if this process cannot access the file. */
std::optional<std::string> identity_of(const std::filesystem::path &path);

/* Throws Error of code EPERM if the effective user does not own the path. */
void require_own(const std::filesystem::path &path, std::string_view what);

/* Read or write exactly `size` bytes at `offset`, through EINTR and short
 * transfers. Return 0 or an errno; reading past the end of the file gives
 * EIO. */
int read_exactly(int fd, void *buffer, std::size_t size, std::uint64_t offset);
int write_exactly(int fd, const void *buffer, std::size_t size,
                  std::uint64_t offset);

} // namespace ckpt
