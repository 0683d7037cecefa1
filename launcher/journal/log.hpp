/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log.hpp - reads one log of the file journal (ckpt/journal.h), record by record.
 */
#pragma once

#include "ckpt/journal.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::journal
{

struct Record {
    ckpt_journal_record head = {};
    std::string path, other;
    std::size_t log = 0;      /* index of its log in the journal */
    std::uint64_t offset = 0; /* bytes from the start of its log */

    ckpt_journal_type type() const { return static_cast<ckpt_journal_type>(head.type); }
    bool has(std::uint32_t flag) const { return (head.flags & flag) != 0; }
    /* Whether `other` is a kept file. */
    bool keeps_file() const
    {
        return type() == CKPT_JOURNAL_FILE || type() == CKPT_JOURNAL_CONTENT;
    }
    /* Whether the record describes what a path named. Undoing it makes the path name that
     * again. */
    bool sets_name() const
    {
        return type() >= CKPT_JOURNAL_ABSENT && type() <= CKPT_JOURNAL_SPECIAL;
    }
    /* Whether undoing the record changes anything. */
    bool is_change() const
    {
        return type() >= CKPT_JOURNAL_ABSENT && type() <= CKPT_JOURNAL_ATTRIBUTES;
    }
    /* Whether the record describes something to be revealed. */
    bool is_product() const
    {
        return type() == CKPT_JOURNAL_PRODUCED || type() == CKPT_JOURNAL_OUTPUT;
    }
    std::uint64_t data_offset() const
    {
        return offset + sizeof head + head.path_size + head.other_size;
    }
    std::uint64_t end() const { return offset + head.length; }
};

struct Log {
    std::filesystem::path path;
    std::string host;
    std::int64_t process = 0;
    std::int32_t rank = -1;
    std::uint64_t begin = 0;     /* order of its BEGIN record */
    std::uint64_t size = 0;      /* bytes up to the end of the last complete record */
    std::vector<Record> records; /* without BEGIN, in file order */
    /* Offsets of damaged records that complete records follow. */
    std::vector<std::uint64_t> damaged;
};

/* How much of a log to read. */
enum class Depth {
    all,     /* also the data, whose checksum is verified */
    headers, /* without the data: for callers that only look for marks and kept files */
};

/* Whether the name has the form "HOST-PID-ORDER.log". */
bool is_log_name(const std::string &name);

/*
 * Reads the BEGIN record, and all records from offset `from` on. An incomplete record that
 * a killed process left at the end is ignored; Log::size is its offset. Throws Error if
 * the file cannot be read.
 */
Log read_log(const std::filesystem::path &path, std::uint64_t from = 0,
             Depth depth = Depth::all);

} // namespace ckpt::journal
