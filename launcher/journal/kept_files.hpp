/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_files.hpp - finds files that were kept when they lost their names.
 */
#pragma once

#include "journal/journal.hpp"

#include <sys/types.h>

#include <optional>
#include <unordered_map>

namespace ckpt::journal
{

class KeptFiles
{
  public:
    explicit KeptFiles(const Journal &journal);

    /* Returns the names under which the record's file was kept; they may be gone. Ignores
     * kept files with the same inode number in other file systems. */
    std::vector<std::string> of_file(const Record &record) const;

  private:
    std::unordered_map<std::uint64_t, std::vector<std::string>> by_inode_;
};

/* Returns the file system in which the path is or would be; nothing if unknown. Records
 * cannot tell: their device numbers are those of another host, or from before a reboot. */
std::optional<dev_t> file_system_of(const std::filesystem::path &path);

} // namespace ckpt::journal
