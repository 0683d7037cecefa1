/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_files.hpp - where files that have lost their names are kept.
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

    /* Names under which the file of the record was kept; they may be gone. Inodes of other
     * file systems with the same number are not taken for it. */
    std::vector<std::string> of_file(const Record &record) const;

  private:
    std::unordered_map<std::uint64_t, std::vector<std::string>> by_inode_;
};

/* The file system that the path is or would be in; nothing if that cannot be told. Device
 * numbers in records are of another host, or of before its reboot. */
std::optional<dev_t> file_system_of(const std::filesystem::path &path);

} // namespace ckpt::journal
