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
    std::uint64_t offset = 0; /* bytes, in its log */

    ckpt_journal_type type() const { return static_cast<ckpt_journal_type>(head.type); }
    bool has(std::uint32_t flag) const { return (head.flags & flag) != 0; }
    /* `other` is a kept file. */
    bool keeps_file() const
    {
        return type() == CKPT_JOURNAL_FILE || type() == CKPT_JOURNAL_CONTENT;
    }
    /* It describes what a path named, and its undoing lets the path name that again. */
    bool sets_name() const
    {
        return type() >= CKPT_JOURNAL_ABSENT && type() <= CKPT_JOURNAL_SPECIAL;
    }
    /* Undoing it changes something. */
    bool is_change() const
    {
        return type() >= CKPT_JOURNAL_ABSENT && type() <= CKPT_JOURNAL_ATTRIBUTES;
    }
    /* It tells what is to be revealed. */
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
    std::uint64_t begin = 0;    /* order of its BEGIN record */
    std::uint64_t size = 0;     /* bytes up to the end of the last whole record */
    std::vector<Record> records; /* without BEGIN, in the order of the file */
    std::vector<std::uint64_t> damaged; /* offsets where a record is damaged, and whole
                                           records follow */
};

/* How much of a log is read. */
enum class Depth {
    all,     /* data, too, whose checksum is verified */
    headers, /* not the data: for a caller that only looks for marks and kept files */
};

/* "HOST-PID-ORDER.log". */
bool is_log_name(const std::string &name);

/*
 * Reads the BEGIN record, and all records from offset `from` on. What a killed process has
 * left at the end of the file is not a record; Log::size tells where it begins. Throws
 * Error if the file cannot be read.
 */
Log read_log(const std::filesystem::path &path, std::uint64_t from = 0,
             Depth depth = Depth::all);

} // namespace ckpt::journal
