/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.hpp - an open directory of this user. All operations work in that directory, even if
 * its name later belongs to another one.
 */
#pragma once

#include "common/fd.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace ckpt
{

class Directory
{
  public:
    /* The directory must belong to this user and must not be a link. If `levels` is above 1,
     * this also holds for the directories above it (2: its parent). Directories above these may
     * be links that the user has made. Throws Error, as all functions do; with code ENOENT if
     * the name does not exist. */
    explicit Directory(const std::filesystem::path &path, unsigned levels = 1);

    /* Returns the names of all entries, sorted. */
    std::vector<std::string> names() const;
    enum class Entry {
        none,
        own_file, /* regular file of this user, not a link */
        other,
    };
    Entry entry(const std::string &name) const;
    bool has_file(const std::string &name) const { return entry(name) == Entry::own_file; }
    /* The file may be gone already. */
    void remove_file(const std::string &name) const;
    void sync() const;

  private:
    std::filesystem::path path_; /* for messages */
    Fd fd_;
};

} // namespace ckpt
