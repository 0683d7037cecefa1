/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kept_files.hpp - where files that have lost their names are kept.
 */
#pragma once

#include "journal/journal.hpp"

#include <unordered_map>

namespace ckpt::journal
{

class KeptFiles
{
  public:
    explicit KeptFiles(const Journal &journal)
    {
        for (const Log &log : journal.logs) {
            for (const Record &record : log.records) {
                if (record.type() == CKPT_JOURNAL_FILE && !record.has(CKPT_JOURNAL_IS_COPY)) {
                    by_inode_[record.head.inode].push_back(journal.kept_file(record));
                }
            }
        }
    }

    /* Names under which the inode was kept; the files may be gone. */
    const std::vector<std::string> &of_inode(std::uint64_t inode) const
    {
        static const std::vector<std::string> none;
        const auto found = by_inode_.find(inode);
        return found == by_inode_.end() ? none : found->second;
    }

  private:
    std::unordered_map<std::uint64_t, std::vector<std::string>> by_inode_;
};

} // namespace ckpt::journal
