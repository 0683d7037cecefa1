/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_files.cpp - finds files that were kept when they lost their names.
 */
#include "config.h"
#include "journal/kept_files.hpp"

#include <sys/stat.h>

namespace ckpt::journal
{

KeptFiles::KeptFiles(const Journal &journal)
{
    for (const Log &log : journal.logs) {
        for (const Record &record : log.records) {
            if (record.type() == CKPT_JOURNAL_FILE && !record.has(CKPT_JOURNAL_IS_COPY)) {
                by_inode_[record.head.inode].push_back(journal.kept_file(record));
            }
        }
    }
}

std::vector<std::string> KeptFiles::of_file(const Record &record) const
{
    const auto found = by_inode_.find(record.head.inode);

    if (found == by_inode_.end()) {
        return {};
    }
    std::vector<std::string> names;
    const auto wanted = file_system_of(record.path);
    for (const std::string &name : found->second) {
        if (wanted && file_system_of(name) == wanted) {
            names.push_back(name);
        }
    }
    return names;
}

/* Determined from the nearest parent directory that exists. */
std::optional<dev_t> file_system_of(const std::filesystem::path &path)
{
    struct stat status;

    for (auto above = path.parent_path();; above = above.parent_path()) {
        if (::stat(above.c_str(), &status) == 0) {
            return status.st_dev;
        }
        if (!above.has_relative_path()) {
            return std::nullopt;
        }
    }
}

} // namespace ckpt::journal
