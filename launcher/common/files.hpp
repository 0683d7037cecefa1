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
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

/* open(2) with O_CLOEXEC; `what` names the thing in an error ("manifest"). */
Fd open_file(const std::filesystem::path &path, int flags, mode_t mode,
             std::string_view what);

/* Opens for reading what must be a regular file of the effective user, and no link to one: it is
 * the open file that is looked at, so nobody can put another in its place between. Throws Error;
 * of code EPERM if it belongs to another user. */
Fd open_own_file(const std::filesystem::path &path, std::string_view what);

/* The whole text of such a file, of at most `limit` bytes. */
std::string read_own_text_file(const std::filesystem::path &path, std::string_view what,
                               std::size_t limit = 64u << 20);

/* Likewise of one that nobody else can read or write: what is in such a one is, or was, no secret.
 * Error of code EPERM. */
std::string read_secret_text_file(const std::filesystem::path &path, std::string_view what,
                                  std::size_t limit = 64u << 20);

/* The whole text of a file of at most `limit` bytes. */
std::string read_text_file(const std::filesystem::path &path,
                           std::string_view what,
                           std::size_t limit = 64u << 20);

/* Replaces `path` by a file of mode 0600 with this text: written under a temporary name,
 * fsync, rename, fsync of the directory (common/new_file.hpp). On an error PATH is as it was
 * and no temporary file stays. */
void write_text_file_atomically(const std::filesystem::path &path,
                                std::string_view text, std::string_view what);

/* Makes the file `path` of mode 0600 with this text, or replaces it; for what
 * may be lost in a crash: nothing waits for the disk. After an error there is
 * no such file. */
void write_text_file(const std::filesystem::path &path, std::string_view text,
                     std::string_view what);

/* Directory of a path, as something open(2) takes. */
std::filesystem::path directory_of(const std::filesystem::path &path);

/* fsync of a directory, so that a rename in it survives a crash. */
void sync_directory(const std::filesystem::path &directory);

/* Makes a directory of mode 0700 whose name survives a crash, unless it is there. */
void make_lasting_directory(const std::filesystem::path &directory);

/* The same with its parents. An existing one must be a
 * directory that belongs to us. */
void make_private_directory(const std::filesystem::path &directory);

/* Names of the directories in a directory, in no order; also of what may be one, as far as can
 * be told. */
std::vector<std::string> list_directories(const std::filesystem::path &path);

/* False only if there surely is nothing of this name. */
bool path_exists(const std::filesystem::path &path);

/* False if there is none of this name that we may look at. Throws Error if that cannot be told:
 * who takes a directory for missing begins anew where there is something. */
bool directory_exists(const std::filesystem::path &path);

/* Refuses a path whose owner is not the effective user: Error of code EPERM. */
void require_own(const std::filesystem::path &path, std::string_view what);

/* Reads or writes exactly `size` bytes at `offset`, through EINTR and short
 * transfers. Returns 0 or an errno; a read at the end of the file gives EIO. */
int read_exactly(int fd, void *buffer, std::size_t size, std::uint64_t offset);
int write_exactly(int fd, const void *buffer, std::size_t size,
                  std::uint64_t offset);

} // namespace ckpt
