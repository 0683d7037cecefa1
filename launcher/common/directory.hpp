/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.hpp - an open directory of ours: what is done in it is done in that one,
 * whatever its name comes to mean.
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
    /* It must belong to us, and be no link; so must those above it, if `levels` is more than 1
     * (2: its parent). Above these may be links, as the user has made them. Throws Error, as all
     * functions do; of code ENOENT if there is nothing of this name. */
    explicit Directory(const std::filesystem::path &path, unsigned levels = 1);

    /* Of all that is in it, in order. */
    std::vector<std::string> names() const;
    enum class Entry {
        none,
        own_file, /* regular, and no link to one */
        other,
    };
    Entry entry(const std::string &name) const;
    bool has_file(const std::string &name) const { return entry(name) == Entry::own_file; }
    /* It may have gone already. */
    void remove_file(const std::string &name) const;
    void sync() const;

  private:
    std::filesystem::path path_; /* for messages */
    Fd fd_;
};

} // namespace ckpt
