/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.hpp - the whole file journal of a job, as the launcher reads it.
 */
#pragma once

#include "common/fd.hpp"
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
    /* The greatest mark that any checkpoint had, dropped ones too; 0: there was none. */
    std::uint64_t greatest_mark() const;
    /* Where the kept file of a record is: the journal may have been moved since. */
    std::filesystem::path kept_file(const Record &record) const;
};

/* Holds the records and kept files of a journal against others that remove some. how: LOCK_EX,
 * perhaps with LOCK_NB. An empty one: another holds them. Without locks in this file system
 * everybody has them. Throws Error if the journal cannot be opened. */
Fd lock_records(const std::filesystem::path &directory, int how);

/* Whether a path is that of a kept file; others are never removed. */
bool is_kept_name(const std::filesystem::path &path);

} // namespace ckpt::journal
