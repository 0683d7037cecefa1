/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_writer.hpp - writes records of a file journal as processes of a job do, and makes the
 * recorded changes.
 */
#pragma once

#include "ckpt/journal.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ckpt::test
{

/* All visible properties of one name. */
struct Seen {
    unsigned mode = 0;
    std::uint64_t inode = 0;
    std::int64_t modified = 0; /* 0 for directories */
    std::string content;       /* or the target of a symbolic link */

    bool operator==(const Seen &) const = default;
};

/* The whole content of a directory, by relative path, without files whose names begin with
 * CKPT_JOURNAL_KEPT_PREFIX. */
using SeenTree = std::map<std::string, Seen>;
SeenTree look_at(const std::filesystem::path &directory, bool with_inodes = true);
/* Returns the differences, for a test's message; empty if there are none. */
std::string difference(const SeenTree &expected, const SeenTree &found);

std::string read_file(const std::filesystem::path &path);
void write_file(const std::filesystem::path &path, const std::string &content);

/* One process with a log. All writers of a test share the clock that numbers the records. */
class JournalWriter
{
  public:
    JournalWriter(std::filesystem::path journal, const std::string &host, int process, int rank,
                  std::uint64_t &clock);

    const std::filesystem::path &log() const { return log_; }

    /* Writes a record only. It describes the object as it is now, if the object exists. Data and
     * `other` are as given; `order`, if not 0, replaces the clock's number. */
    void record(ckpt_journal_type type, const std::string &path, const std::string &other = "",
                const std::string &data = "", std::uint32_t flags = 0,
                std::uint64_t offset = 0, std::uint64_t value = 0);
    void mark(std::uint64_t checkpoint);
    void state(const std::string &path, bool is_written = true);
    /* The same for a file that has just changed. */
    void hashed_state(const std::string &path);

    /* Writes the record, then makes the change. */
    void create(const std::string &path, const std::string &content);
    void append(const std::string &path, const std::string &text);
    void rewrite(const std::string &path, std::uint64_t offset, const std::string &text);
    void replace_content(const std::string &path, const std::string &content);
    void unlink(const std::string &path, bool by_copy = false);
    void rename(const std::string &from, const std::string &to);
    void move_directory(const std::string &from, const std::string &to);
    void exchange(const std::string &one, const std::string &other);
    void make_directory(const std::string &path);
    void remove_directory(const std::string &path);
    void change_mode(const std::string &path, unsigned mode);
    void make_symlink(const std::string &target, const std::string &path);

    /* Keeps the file; returns the kept file's path. */
    std::string keep(const std::string &path, bool by_copy);

    /* The directory of kept files; initially the journal's own. */
    std::filesystem::path kept;

  private:
    std::filesystem::path journal_, log_;
    std::string host_;
    int process_, rank_, kept_count_ = 0;
    std::uint64_t *clock_;
};

} // namespace ckpt::test
