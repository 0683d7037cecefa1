/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.hpp - the complete file journal of a job, for the launcher.
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
    std::vector<Log> logs;                            /* by name */
    std::map<std::string, ckpt_journal_clock> clocks; /* by host */
    Dropped dropped;
    std::optional<RedoRecord> redo;

    /* Reads a journal; a missing directory is an empty journal. Throws Error. */
    static Journal read(const std::filesystem::path &directory, Depth depth = Depth::all);

    const Log &log_of(const Record &record) const { return logs.at(record.log); }
    /* Returns the greatest order used so far; processes of later launches use greater ones. */
    std::uint64_t last_order() const;
    /* Returns the greatest mark of all checkpoints, including dropped ones; 0: no mark. */
    std::uint64_t greatest_mark() const;
    /* Returns the path of a record's kept file. The journal may have been moved since the
     * record was made. */
    std::filesystem::path kept_file(const Record &record) const;
};

/* Locks the records and kept files of a journal against removal by other processes. how:
 * LOCK_EX, optionally with LOCK_NB. Returns an invalid Fd if another process holds the lock.
 * On a file system without locks every process gets the lock. Throws Error if the journal
 * cannot be opened. */
Fd lock_records(const std::filesystem::path &directory, int how);

/* Whether a path is that of a kept file; other files are never removed. */
bool is_kept_name(const std::filesystem::path &path);

} // namespace ckpt::journal
