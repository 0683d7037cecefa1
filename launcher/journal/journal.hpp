/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.hpp - the whole file journal of a job, as the launcher reads it.
 */
#pragma once

#include "journal/log.hpp"
#include "journal/notes.hpp"

#include <map>
#include <set>

namespace ckpt::journal
{

struct Journal {
    std::filesystem::path directory;
    std::vector<Log> logs; /* by name */
    std::map<std::string, ckpt_journal_clock> clocks; /* by host */
    Dropped dropped;
    std::optional<RedoRecord> redo;

    /* Throws Error. A directory that does not exist is an empty journal. */
    static Journal read(const std::filesystem::path &directory, Depth depth = Depth::all);

    const Log &log_of(const Record &record) const { return logs.at(record.log); }
    /* The greatest order used so far: processes of later launches use greater ones. */
    std::uint64_t last_order() const;
    /* Where the kept file of a record is: the journal may have been moved since. */
    std::filesystem::path kept_file(const Record &record) const;
};

/* Whether a path is that of a kept file; others are never removed. */
bool is_kept_name(const std::filesystem::path &path);

} // namespace ckpt::journal
